import { describe, expect, test } from 'vitest'
import type { Series } from '../../src/candles/series.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../src/engine/output-names.js'
import { type Format, resolveFormat } from '../../src/options.js'
import { catchError } from '../support/errors.js'
import { thrownBy } from '../support/thrown-by.js'

const BTC_1H: Series = { symbol: 'BTCUSDT', interval: '1h' }
const BTC_1M: Series = { symbol: 'BTCUSDT', interval: '1M' }
const ETH_1H: Series = { symbol: 'ETHUSDT', interval: '1h' }

describe('the format of a file', () => {
  test.each<[string, Format | undefined, Format, boolean]>([
    ['a.csv', undefined, 'csv', false],
    ['a.csv.gz', undefined, 'csv', true],
    ['a.json.GZ', undefined, 'json', true],
    ['a.ndjson', undefined, 'jsonl', false],
    ['a.parquet', undefined, 'parquet', false],
    ['a.arrow', undefined, 'arrow', false],
    ['a.feather', undefined, 'arrow', false],
    ['.csv', undefined, 'csv', false],
    ['a.csv', 'parquet', 'parquet', false],
    ['a', 'csv', 'csv', false],
    ['-', undefined, 'json', false],
  ])('of %s, with -f %s, is %s (gzip: %s)', (path, given, format, gzip) => {
    expect(resolveFormat(path, given)).toEqual({ format, gzip })
  })

  test.each(['a', 'a.txt', 'a.gz', 'a.csv/b', '', 'a.__proto__'])('cannot be derived from the name %j', path => {
    const error = thrownBy(() => resolveFormat(path, undefined))
    expect(error).toMatchObject({
      code: 'bad_output',
      suggestions: ['Name the format with -f: csv, json, jsonl, parquet, arrow.'],
    })
    expect(error.message).toContain(`The name ${path} has no known extension.`)
  })

  test.each([
    ['data/', undefined, "-o 'data/{symbol}-{interval}.csv'"],
    ['a/..', 'parquet', "-o 'a/../{symbol}-{interval}.parquet'"],
  ] as const)('of the folder %j, with -f %s, is asked for with a name in it', (path, given, name) => {
    const error = thrownBy(() => resolveFormat(path, given))
    expect(error).toMatchObject({ code: 'bad_output', suggestions: [`Name a file in it: ${name}`] })
  })

  test.each([
    ['a.parquet.gz', undefined, 'a.parquet'],
    ['a.arrow.gz', undefined, 'a.arrow'],
    ['a.gz', 'parquet', 'a'],
  ] as const)('%s with -f %s is refused, since it would be compressed twice', (path, given, suggested) => {
    const error = thrownBy(() => resolveFormat(path, given))
    expect(error).toMatchObject({ code: 'bad_output', suggestions: [`Did you mean ${suggested}?`] })
  })
})

describe('the files of a template', () => {
  const all = [BTC_1H, BTC_1M, ETH_1H]
  const plan = (template: string, format?: Format) => planOutputs(template, parseTemplate(template, format), all)

  test.each<[string, string[]]>([
    ['{symbol}-{interval}.csv', ['BTCUSDT-1h.csv', 'BTCUSDT-1M.csv', 'ETHUSDT-1h.csv']],
    [
      '{symbol}/{interval}/{symbol}.parquet',
      ['BTCUSDT/1h/BTCUSDT.parquet', 'BTCUSDT/1M/BTCUSDT.parquet', 'ETHUSDT/1h/ETHUSDT.parquet'],
    ],
    ['{base}/{quote}.csv', ['BTC/USDT.csv', 'ETH/USDT.csv']],
    ['all.jsonl', ['all.jsonl']],
  ])('%s are %j', (template, paths) => {
    expect(plan(template).map(({ path }) => path)).toEqual(paths)
  })

  test('a quarterly has a file of its own, whatever its name is made of', () => {
    const series = ['BTCUSDT', 'BTCUSDT_261225'].map(symbol => ({ ...BTC_1H, symbol }))
    const template = '{base}_{quote}-{interval}.csv'
    const paths = planOutputs(template, parseTemplate(template, undefined), series).map(({ path }) => path)
    expect(paths).toEqual(['BTC_USDT-1h.csv', 'BTC_USDT_261225-1h.csv'])
  })

  test('series with the same file name share the file, in order', () => {
    expect(plan('{symbol}.arrow')).toEqual([
      { path: 'BTCUSDT.arrow', series: [BTC_1H, BTC_1M], format: 'arrow', gzip: false },
      { path: 'ETHUSDT.arrow', series: [ETH_1H], format: 'arrow', gzip: false },
    ])
  })

  test.each([
    ['all.json', undefined, 'all.json'],
    ['{symbol}.json', undefined, 'BTCUSDT.json'],
  ] as const)('several series in one json file are refused with a suggestion: %s', (template, format, shared) => {
    const error = thrownBy(() => plan(template, format))
    expect(error.code).toBe('bad_output')
    expect(error.message).toContain(`series would share ${shared}.`)
    expect(error.suggestions[0]).toContain('{symbol} and {interval}')
  })

  test.each(['{pair}.csv', '{symbol}-{}.csv'])('the placeholder in %s is refused', template => {
    for (const attempt of [() => plan(template), () => plan(template, 'csv')]) {
      expect(thrownBy(attempt)).toMatchObject({
        code: 'bad_output',
        message: expect.stringMatching(
          /^Unknown placeholder \{.*\} in .*\. Expected \{symbol\}, \{base\}, \{quote\} or \{interval\}\.$/,
        ),
      })
    }
  })

  test.each([
    ['x/a.csv', 'x/A.csv'],
    ['x/\u00e9.csv', 'x/e\u0301.csv'],
    ['x/\u00e9.csv', 'x/E\u0301.csv'],
  ])('%s beside %s is refused: on some disks they are the same file', async (first, second) => {
    const outputs = [first, 'x/b.csv', second].map(path => ({ path }))
    expect(await catchError(checkOutputs(outputs))).toMatchObject({
      code: 'bad_output',
      data: { outputs: [first, second] },
    })
    await checkOutputs([...outputs.slice(1), { path: '-' }, { path: '-' }])
  })

  test('a template without an extension is refused', () => {
    expect(thrownBy(() => plan('{symbol}')).code).toBe('bad_output')
  })
})
