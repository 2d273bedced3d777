import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** The number of faults that the catalogue lists, F01 to F69. */
const FAULTS = 69

it('every fault of the catalogue has a test named after it', () => {
  const folder = import.meta.dirname
  const names = readdirSync(folder).filter(name => name.endsWith('.test.ts'))
  const titles = names.flatMap(name => [...readFileSync(join(folder, name), 'utf8').matchAll(/['"`](F\d\d) \S/g)])
  const numbers = new Set(titles.map(([, number]) => number))
  const all = Array.from({ length: FAULTS }, (_, index) => `F${String(index + 1).padStart(2, '0')}`)
  expect(all.filter(number => !numbers.has(number))).toEqual([])
})
