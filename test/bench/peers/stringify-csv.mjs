// usage: stringify-csv.mjs LIST OUT: writes window files into one CSV file with JSON.parse and csv-stringify.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { stringify } from 'csv-stringify/sync'
import { COLUMNS } from './columns.mjs'

const [list, out] = process.argv.slice(2)
const file = openSync(out, 'w')
writeSync(file, `${COLUMNS}\n`)
for (const { symbol, interval, files } of JSON.parse(readFileSync(list, 'utf8'))) {
  for (const path of files) {
    const rows = JSON.parse(readFileSync(path, 'utf8'))
    // One call for a window: faster than the stream API, which takes a row at a time.
    writeSync(file, stringify(rows.map(row => [symbol, interval, ...row])))
  }
}
closeSync(file)
