/** The orders of the example, but products are fresh for two seconds: short enough to wait for. */
import app from '../../examples/orders/service.ts'

const { resources } = app.contract
export default {
  ...app,
  contract: {
    ...app.contract,
    resources: resources.map(each =>
      each.name === 'products' ? { ...each, given: { ...each.given, cache: { maxAge: 2 } } } : each,
    ),
  },
}
