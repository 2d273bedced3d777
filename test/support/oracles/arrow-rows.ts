import { type Table, tableFromIPC } from 'apache-arrow'
import * as wasm from 'parquet-wasm'
import type { BinaryRow } from './binary-rows.js'

/** Four little-endian words, 8 digits after the point, as text. */
export function decimalText(words: Uint32Array): string {
  const value = [3, 2, 1, 0].reduce((sum, word) => (sum << 32n) | BigInt(words[word]), 0n)
  const digits = String(value).padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** The rows of an Arrow table, decimals as text. */
export function tableRows(table: Table): BinaryRow[] {
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(
      table.schema.fields.map(({ name }, column) => {
        const value = table.getChildAt(column)?.get(row)
        return [name, value instanceof Uint32Array ? decimalText(value) : value]
      }),
    ),
  )
}

/** The table in a Parquet file as parquet-wasm reads it. */
export function wasmTable(bytes: Uint8Array): Table {
  return tableFromIPC(wasm.readParquet(bytes).intoIPCStream())
}
