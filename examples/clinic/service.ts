/** A clinic. Run with `npx diglot serve examples/clinic/service.ts`. */
import { type Context, type Item, implement } from 'diglot'
import { type appointments, clinic, SlotTaken } from './contract.ts'
import { openDirectory } from './directory.ts'

type Slot = Pick<Item<typeof appointments>, 'doctor' | 'from' | 'minutes'>
const endOf = ({ from, minutes }: Pick<Slot, 'from' | 'minutes'>): number => Date.parse(from) + minutes * 60_000

/** Whether the doctor has another appointment at this time. */
async function isTaken(ctx: Context<typeof clinic>, wanted: Slot, id?: string): Promise<boolean> {
  // A year has four digits: an appointment in the last hour of 9999 would have no end.
  if (!(endOf(wanted) < Date.UTC(2100))) ctx.invalid(['from'], 'is too far away: give a time before 2100')
  for await (const each of ctx.items.all.list('appointments', { doctor: wanted.doctor })) {
    const overlaps = Date.parse(each.from) < endOf(wanted) && Date.parse(wanted.from) < endOf(each)
    if (each.id !== id && each.state !== 'cancelled' && overlaps) return true
  }
  return false
}

export default implement(
  clinic,
  {
    doctors: { keep: openDirectory(process.env['STAFF_DATABASE'] ?? ':memory:') },
    appointments: {
      compute: slot => ({ until: new Date(endOf(slot)).toISOString() }),
      derive: async (ctx, draft, current) => {
        if (!current && Date.parse(draft.from) < Date.parse(ctx.now)) ctx.invalid(['from'], 'is over: give a later one')
        if (await isTaken(ctx, draft, current?.id)) ctx.conflict(`${draft.doctor} is not free at ${draft.from}`)
        return current?.site === undefined && ctx.headers.Site !== undefined ? { site: ctx.headers.Site } : {}
      },
      arrive: () => {},
      see: (_ctx, _appointment, { findings }) => ({ set: { findings } }),
      cancel: () => {},
      move: async (ctx, appointment, { from }) => {
        const { notice = 0 } = (await ctx.items.get('settings')) ?? {}
        const isLate = Date.parse(appointment.from) < Date.parse(ctx.now) + notice * 3_600_000
        if (isLate && !ctx.caller.roles.includes('desk'))
          ctx.conflict(`an appointment is moved ${notice} hours before it at the latest: call the clinic`)
        if (await isTaken(ctx, { ...appointment, from }, appointment.id))
          ctx.fail(SlotTaken, { doctor: appointment.doctor, from })
        return { set: { from } }
      },
    },
    documents: { derive: (ctx, _draft, current) => ({ added: current?.added ?? ctx.now }) },
    reports: {
      run: async (ctx, { month }) => {
        const lines = new Map<string, { doctor: string; seen: number; minutes: number }>()
        for await (const { state, doctor, from, minutes } of ctx.items.list('appointments')) {
          if (state !== 'seen' || !from.startsWith(month)) continue
          const line = lines.get(doctor) ?? { doctor, seen: 0, minutes: 0 }
          lines.set(doctor, { ...line, seen: line.seen + 1, minutes: line.minutes + minutes })
        }
        return { month, lines: [...lines.values()] }
      },
    },
  },
  {
    seed: () => ({
      people: [
        { subject: 'dana', password: 'dana-secret', roles: ['desk'] },
        { subject: 'house', password: 'house-secret', roles: ['doctor'] },
        { subject: 'pat', password: 'pat-secret', roles: ['patient'], claims: { patient: 'p-1' } },
      ],
      items: {
        patients: [
          { id: 'p-1', name: 'Pat Hill', born: '1980-02-29' },
          { id: 'p-2', name: 'Lee Moss', born: '1999-12-31' },
        ],
        settings: { phone: '+44 20 7946 0000', notice: 0 },
      },
    }),
  },
)
