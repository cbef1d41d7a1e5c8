/** The clinic through both clients. Run with `node --test`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FaultError } from 'diglot/client'
import { checkService, startTestService } from 'diglot/testing'
import { clinic, SlotTaken } from './contract.ts'
import app from './service.ts'

const now = '2026-03-02T08:00:00Z'
const at = (time: string) => `2026-03-03T${time}:00Z`

/** A new clinic with a doctor; all tests of the process share the directory. */
async function openClinic() {
  const service = await startTestService(clinic, app, { now })
  const doctor = await service.rest('dana').doctors.create({ name: 'Gregory House', ward: 'heart' })
  const draft = { patient: 'p-1', doctor: doctor.id, from: at('09:00'), minutes: 30 }
  return { service, doctor, draft, [Symbol.asyncDispose]: service.close }
}

for (const face of ['rest', 'soap'] as const)
  describe(`the clinic by ${face}`, () => {
    test('an appointment is booked, moved, kept and written down', async () => {
      await using open = await openClinic()
      const { service, draft } = open
      const [pat, dana, house] = [service[face]('pat'), service[face]('dana'), service[face]('house')]
      const booked = await pat.appointments.create(draft)
      assert.ok(booked.state === 'booked')
      await pat.appointments.move(booked, { from: at('10:00') })
      const moved = await dana.appointments.get(booked.id)
      assert.ok(moved.state === 'booked')
      assert.equal(moved.from, at('10:00'))
      assert.equal(moved.until, '2026-03-03T10:30:00.000Z')
      await dana.appointments.arrive(moved)
      const arrived = await house.appointments.get(booked.id)
      assert.ok(arrived.state === 'arrived')
      await house.appointments.see(arrived, { findings: 'it is never lupus' })
      assert.equal((await pat.appointments.get(booked.id)).findings, 'it is never lupus')
      assert.equal((await dana.appointments.get(booked.id)).findings, undefined) // the desk may not see them
    })

    test('a doctor has one patient at a time, and a patient sees only their own', async () => {
      await using open = await openClinic()
      const { service, draft, doctor } = open
      const [pat, dana] = [service[face]('pat'), service[face]('dana')]
      await dana.appointments.create({ ...draft, patient: 'p-2', from: at('11:00') })
      await assert.rejects(pat.appointments.create({ ...draft, from: at('11:15') }), /StateConflict|not free/)
      const booked = await pat.appointments.create(draft)
      assert.ok(booked.state === 'booked')
      await assert.rejects(pat.appointments.move(booked, { from: at('11:00') }), (thrown: unknown) => {
        assert.ok(thrown instanceof FaultError && thrown.is(SlotTaken))
        assert.deepEqual(thrown.detail, { doctor: doctor.id, from: at('11:00') })
        return true
      })
      const seen = await Array.fromAsync(pat.appointments.list())
      assert.deepEqual(
        seen.map(each => each.id),
        [booked.id],
      )
    })

    test('the desk sets the notice at which a patient may still move an appointment', async () => {
      await using open = await openClinic()
      const { service, draft } = open
      const [pat, dana] = [service[face]('pat'), service[face]('dana')]
      const { phone, notice } = await pat.settings.get()
      assert.deepEqual([phone, notice], ['+44 20 7946 0000', 0])
      const settings = await dana.settings.get()
      await dana.settings.replace(settings, { phone, notice: 48 })
      const booked = await pat.appointments.create(draft) // an appointment tomorrow
      assert.ok(booked.state === 'booked')
      await assert.rejects(pat.appointments.move(booked, { from: at('10:00') }), /48 hours before it|StateConflict/)
      const seen = await dana.appointments.get(booked.id)
      assert.ok(seen.state === 'booked')
      await dana.appointments.move(seen, { from: at('10:00') })
    })

    test('the report of a month counts what was seen', async () => {
      await using open = await openClinic()
      const { service, draft, doctor } = open
      const [dana, house] = [service[face]('dana'), service[face]('house')]
      const booked = await dana.appointments.create(draft)
      assert.ok(booked.state === 'booked')
      await dana.appointments.arrive(booked)
      const arrived = await house.appointments.get(booked.id)
      assert.ok(arrived.state === 'arrived')
      await house.appointments.see(arrived, { findings: 'well' })
      const job = await dana.reports.start({ month: '2026-03' })
      await service.work()
      const { lines } = await job.result()
      assert.deepEqual(lines, [{ doctor: doctor.id, seen: 1, minutes: 30 }])
    })
  })

test('a document has its scan, which only its patient and the clinic may read', async () => {
  await using open = await openClinic()
  const { service } = open
  const dana = service.rest('dana')
  const document = await dana.documents.create({ patient: 'p-2', title: 'X-ray' })
  assert.equal(document.added, '2026-03-02T08:00:00.000Z')
  await dana.documents.scan.put(document, new Uint8Array([1, 2, 3]), { mediaType: 'image/png' })
  await assert.rejects(service.rest('pat').documents.get(document.id))
})

test('the site of a message is kept, and v1 knows neither it nor the insurance', async () => {
  await using open = await openClinic()
  const { service, draft } = open
  const soap = service.soap('dana', { headers: { Site: 'LON' } })
  const { id } = await soap.appointments.create(draft)
  assert.equal((await service.rest('dana').appointments.get(id)).site, 'LON')
  assert.ok(!('site' in (await service.rest('dana', { version: 'v1' }).appointments.get(id))))
})

for (const face of ['rest', 'soap'] as const)
  test(`v1 has the ward of a doctor as a specialty, by ${face}`, async () => {
    await using open = await openClinic()
    const { service, doctor } = open
    const old = service[face]('dana', { version: 'v1' })
    assert.equal((await old.doctors.get(doctor.id)).specialty, 'cardiology')
    const made = await old.doctors.create({ name: 'Lisa Cuddy', specialty: 'ophthalmology' })
    assert.equal((await service[face]('dana').doctors.get(made.id)).ward, 'eyes')
    const found = await Array.fromAsync(old.doctors.list({ where: { specialty: 'ophthalmology' } }))
    assert.ok(found.length > 0 && found.every(each => each.specialty === 'ophthalmology'))
  })

test('a time that is over is refused, at the clock of the test', async () => {
  await using open = await openClinic()
  const { service, draft } = open
  service.clock.advance({ days: 2 })
  await assert.rejects(service.rest('pat').appointments.create(draft), /is over: give a later one/)
})

test('no rule of the conventions fails', async () => {
  const { verdicts } = await checkService(app)
  const failed = verdicts.filter(({ status }) => status === 'fail')
  assert.deepEqual(
    failed.map(({ rule, reason }) => `${rule.id}: ${reason}`),
    [],
  )
})

for (const from of ['12026-01-01T00:00:00Z', '-0001-01-01T00:00:00Z', '2026-11-21T09:00:00', '9999-12-31T23:59:59Z'])
  test(`a time that is too far away, or has no zone, is refused where it is given: ${from}`, async () => {
    await using open = await openClinic()
    const { service, draft } = open
    const dana = service.rest('dana')
    const booked = await dana.appointments.create(draft)
    assert.ok(booked.state === 'booked')
    const refused = /too far away|from must be a date and time, such as/
    await assert.rejects(dana.appointments.create({ ...draft, from }), refused)
    await assert.rejects(dana.appointments.move(booked, { from }), refused)
    assert.deepEqual(service.incidents, [])
  })
