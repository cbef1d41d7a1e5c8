/** Writes an invoice and reports, with libraries that only this example needs. */
import { stringify } from 'csv-stringify/sync'
import type { Item } from 'diglot'
import type { orders, ReportOutput } from './contract.ts'

/** Loads the library and its fonts with the first document, so that the start need not wait. */
async function page(write: (pdf: PDFKit.PDFDocument) => void): Promise<Uint8Array> {
  const { default: PDFDocument } = await import('pdfkit')
  return await new Promise((resolve, reject) => {
    const pdf = new PDFDocument({ size: 'A4', margin: 56 })
    const parts: Uint8Array[] = []
    pdf.on('data', part => parts.push(part))
    pdf.on('end', () => resolve(Buffer.concat(parts)))
    pdf.on('error', reject)
    write(pdf)
    pdf.end()
  })
}

export const invoice = (order: Item<typeof orders>): Promise<Uint8Array> =>
  page(pdf => {
    pdf.fontSize(20).text(`Invoice for order ${order.id}`).moveDown()
    pdf.fontSize(11).text(`Customer ${order.customer}, placed ${order.placedAt}, ${order.state}`).moveDown()
    for (const line of order.lines) pdf.text(`${line.quantity} × ${line.product} at ${line.price} ${order.currency}`)
    pdf.moveDown().fontSize(14).text(`Total ${order.total} ${order.currency}`)
  })

export const reportCsv = (report: ReportOutput): string =>
  stringify([...report.rows], {
    header: true,
    columns: ['product', 'name', 'currency', 'quantity', 'amount'],
    cast: { bigint: String },
    escape_formulas: true,
  })

export const reportPdf = (report: ReportOutput): Promise<Uint8Array> =>
  page(pdf => {
    pdf.fontSize(20).text(`Report: ${report.kind}, ${report.from} to ${report.to}`).moveDown().fontSize(10)
    for (const row of report.rows)
      pdf.text(`${row.name} (${row.product}): ${row.quantity}, ${row.amount} ${row.currency}`)
    pdf.moveDown().fontSize(14)
    for (const { currency, amount } of report.totals) pdf.text(`Total ${amount} ${currency}`)
  })
