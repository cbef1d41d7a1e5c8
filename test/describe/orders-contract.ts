/** The reference service as every description takes it. */
import { shop as orders } from '../../examples/orders/contract.ts'
import type { Service } from '../../src/contract/service.ts'

export const shop = orders as unknown as Service // its resources and jobs are narrower
