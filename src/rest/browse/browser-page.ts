/**
 * A document as a page. Other media types need nothing from here, so only browsers pay for it.
 */
import { chain, type Maybe } from '../../base/maybe.ts'
import { labelOf } from '../../html/element.ts'
import { writePage } from '../../html/frame.ts'
import type { WorkSteps } from '../../service/turns.ts'
import type { Exchange } from '../exchange.ts'
import type { RepresentationDocument } from '../formats/document.ts'
import { writeCollectionView } from './collection-view.ts'
import { writeEntryView } from './entry-view.ts'
import { writeExchangePanel } from './exchange-panel.ts'
import { writeItemView } from './item-view.ts'
import { describeFrame } from './page-frame.ts'

export function* writeBrowserPage(exchange: Exchange, document: RepresentationDocument): WorkSteps<Maybe<string>> {
  const main = yield* writeMain(exchange, document)
  return chain(writeExchangePanel(exchange, document), panel => {
    const frame = describeFrame(exchange, labelOf(document.title))
    return writePage({ ...frame, isWide: document.items !== undefined }, main, panel)
  })
}

/** What the page shows of its document. */
function* writeMain(exchange: Exchange, document: RepresentationDocument): WorkSteps<string> {
  if (exchange.page === 'entry') return writeEntryView(exchange, document)
  return document.items ? yield* writeCollectionView(exchange, document) : writeItemView(exchange, document)
}
