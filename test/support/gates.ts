/** Gates of the front door that turn requests away. */
import { type Gate, openGate } from '../../src/front/gate.ts'
import { type FrontRefusal, refuseAtFront } from '../../src/front/refusal.ts'

export const overloadedGate = (after: number): Gate => ({
  ...openGate(),
  requireInService: () => refuseAtFront({ kind: 'unavailable', after }),
})

/** @param from the one address that is flooding; absent: any */
export const floodedGate = (after: number, limit: number, from?: string): Gate => ({
  ...openGate(),
  requireUnflooded: peer => {
    if (from === undefined || peer === from) refuseAtFront({ kind: 'too-many', after, limit, window: 1 })
  },
})

/** Refuses one address before anything of its request is read. */
export const refusingGate = (refusal: FrontRefusal, from: string): Gate => ({
  ...openGate(),
  requireUnflooded: peer => {
    if (peer === from) refuseAtFront(refusal)
  },
})
