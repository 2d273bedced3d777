import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** The number of the last fault of the catalogue, and the numbers that it no longer has. */
const FAULTS = 119
const GONE = ['F58', 'F64', 'F73', 'F74', 'F76', 'F78', 'F79', 'F82', 'F83', 'F85', 'F86', 'F88']

it('every fault of the catalogue has a test named after it, and no test has another number', () => {
  const folder = join(import.meta.dirname, '..')
  const names = ['faults', 'mirror', 'server/http'].flatMap(room =>
    readdirSync(join(folder, room)).map(name => join(room, name)),
  )
  const titles = names
    .filter(name => name.endsWith('.test.ts'))
    .flatMap(name => [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:['"`]|^)(F\d+) \S/gm)])
  const numbers = new Set(titles.map(([, number]) => number))
  const all = Array.from({ length: FAULTS }, (_, index) => `F${String(index + 1).padStart(2, '0')}`)
  expect(numbers).toEqual(new Set(all.filter(number => !GONE.includes(number))))
})
