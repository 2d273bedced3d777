import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWrittenFile } from '../../src/export/written-file.js'
import { catchError } from '../support/errors.js'
import { METADATA, manyRows, rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { cases } from '../support/full.js'
import { tempFolder } from '../support/temp-folder.js'

const REQUEST = { series: ['BTCUSDT 3h 1h', 'ETHUSDT 3h 1h'], partial: true } as const

/** A file that remembers a request. */
async function fileBytes(format: 'parquet' | 'arrow', metadata = {}, rows = 3): Promise<Buffer> {
  const all = { ...METADATA, request: REQUEST, range: 'last 90d', ...metadata }
  return (await runExporter(format, toBatches([manyRows(rows)]), rowFormat(), all)).bytes
}

function pathOf(bytes: Uint8Array, name = 'file'): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, bytes)
  return path
}

it('a file of Parquet that does not say how it is compressed is refused', async () => {
  const text = (await fileBytes('parquet')).toString('latin1').replace('"compression":', '"compressed_":')
  const path = pathOf(Buffer.from(text, 'latin1'))
  expect((await catchError(readWrittenFile(path))).message).toContain('its metadata has another form')
})

describe.each(['parquet', 'arrow'] as const)('a file of %s', format => {
  it('says how it was made', async () => {
    const path = pathOf(await fileBytes(format, {}, 70_000))
    const made = ['BTCUSDT', 'ETHUSDT'].map(symbol => ({ symbol, interval: '3h', source: { symbol, interval: '1h' } }))
    expect(await readWrittenFile(path)).toMatchObject({
      ...{ path, format, source: METADATA.source, made, last: '90d', partial: true, numbers: 'text' },
    })
  })

  it.each([
    [{ source: 'https://user:secret@example.com' }, 'names no source or no range'],
    [{ range: 'always' }, '"always" describes no range'],
    [{ request: { series: ['BTCUSDT 1h', 'BTCUSDT 1h'] } }, 'its metadata has another form'],
    [{ request: { series: [] } }, 'its metadata has another form'],
    [{ request: { series: ['../x 1h'] } }, 'is no series'],
    [{ request: { series: ['BTCUSDT 1h 4h'] } }, '1h candles cannot be built from 4h candles'],
    [{ request: { series: ['BTCUSDT 7x 1h'] } }, '"7x" is no interval'],
    [{ request: undefined }, 'it does not say how it was made'],
  ])('is refused for %j', async (metadata, message) => {
    const path = pathOf(await fileBytes(format, metadata))
    const error = await catchError(readWrittenFile(path))
    expect(error).toMatchObject({ code: 'bad_output', message: expect.stringContaining(message) })
    expect(error.message).not.toContain('secret')
  })

  it('of which any bytes are others is refused, or says the same', async () => {
    const bytes = await fileBytes(format)
    const path = pathOf(bytes)
    const { version: _, ...said } = await readWrittenFile(path)
    const change = fc.record({
      // Most of it is in the footer.
      at: fc.nat(bytes.length - 1).map(at => bytes.length - 1 - (at % 2_500 < bytes.length ? at % 2_500 : 0)),
      value: fc.nat(255),
      cut: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(bytes.length) }),
    })
    const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async changes => {
      const damaged = Buffer.from(bytes)
      for (const { at, value } of changes) damaged[at] = value
      writeFileSync(path, damaged.subarray(0, damaged.length - changes[0].cut))
      try {
        const { version: _, ...found } = await readWrittenFile(path)
        expect(Object.keys(found).sort()).toEqual(Object.keys(said).sort())
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_output' })
      }
    })
    await fc.assert(property, { numRuns: cases(5_000, 300) })
  })
})

describe('what is no such file', () => {
  it.each([
    ['text', 'open_time,open\n1,2\n'],
    ['nothing', ''],
    ['the magic bytes alone', 'PAR1'],
    [
      'a long footer',
      Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100), Buffer.from([255, 255, 255, 127]), Buffer.from('PAR1')]),
    ],
    [
      'a long list',
      Buffer.concat([
        Buffer.from('ARROW1\0\0'),
        Buffer.alloc(64, 0x7f),
        Buffer.from([60, 0, 0, 0]),
        Buffer.from('ARROW1'),
      ]),
    ],
  ])('%s', async (_, content) => {
    const path = pathOf(Buffer.from(content), 'a b.csv')
    const error = await catchError(readWrittenFile(path))
    expect(error.code).toBe('bad_output')
    expect(error).toMatchObject({
      suggestions: [`This makes it anew: klines download SYMBOL -i INTERVAL -o '${path}' --force`],
    })
  })

  it('a folder, and a name that would be a template', async () => {
    const folder = join(tempFolder(), 'x.parquet')
    mkdirSync(folder)
    expect((await catchError(readWrittenFile(folder))).code).toBe('bad_output')
    const path = pathOf(await fileBytes('parquet'), '{symbol}.parquet')
    expect((await catchError(readWrittenFile(path))).message).toContain('placeholder')
  })
})
