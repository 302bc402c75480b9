// workbook FILE: exceljs, which is stricter than spreadsheets are, opens an exported workbook; prints the rows of its first sheet.
import ExcelJS from 'exceljs'

const workbook = new ExcelJS.Workbook()
await workbook.xlsx.readFile(process.argv[2])

const age = Date.now() - workbook.modified.getTime()
if (workbook.creator !== 'Rihla' || workbook.lastModifiedBy !== 'Rihla' || age < 0 || age > 3_600_000) {
  throw new Error(`made by ${workbook.creator}, ${workbook.lastModifiedBy}, at ${workbook.modified}`)
}

const sheet = workbook.worksheets[0]
const rows = sheet.actualRowCount
if (rows < 3 || typeof sheet.getRow(2).getCell(6).value !== 'number') {
  throw new Error(`${rows} rows, and ${JSON.stringify(sheet.getRow(2).values)}`)
}
console.log(`${rows} rows by exceljs`)
