import { describe, expect, it } from 'vitest'
import { resolveResultFormat, resultText, type TextFormat } from '../../src/sql/result.js'
import { openDatabase } from './locked-database.js'

/** The text of a query's result. */
async function textOf(format: TextFormat, sql: string): Promise<string> {
  const result = await (await openDatabase()).run(sql)
  const text = resultText(format, result.deduplicatedColumnNames())
  const [first, ...rest] = await result.getRows()
  return text.start + text.rows(first ? [first] : [], true) + text.rows(rest, false) + text.end
}

describe('the text of a result', () => {
  /** SQL of a value, its JSON, and its CSV where that is other text. */
  it.each([
    ['null', 'null', ''],
    ["''", '""', '""'],
    ['\'a,"b"\n\'', '"a,\\"b\\"\\n"', '"a,""b""\n"'],
    ['true', 'true'],
    ['-7::tinyint', '-7'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740992', '"9007199254740992"', '9007199254740992'],
    ['9223372036854775807', '"9223372036854775807"', '9223372036854775807'],
    [
      '-170141183460469231731687303715884105727::hugeint',
      '"-170141183460469231731687303715884105727"',
      '-170141183460469231731687303715884105727',
    ],
    ['0.1::double', '0.1'],
    ['1e300::double', '1e+300'],
    ["'nan'::double", '"NaN"', 'NaN'],
    ["'-inf'::double", '"-Infinity"', '-Infinity'],
    ['0.10000000::decimal(38, 8)', '"0.10000000"', '0.10000000'],
    ['-0.00000001::decimal(38, 8)', '"-0.00000001"', '-0.00000001'],
    [
      '123456789012345678901234567890.12345678::decimal(38, 8)',
      '"123456789012345678901234567890.12345678"',
      '123456789012345678901234567890.12345678',
    ],
    ["date '2024-02-29'", '"2024-02-29"', '2024-02-29'],
    ["time '12:34:56'", '"12:34:56"', '12:34:56'],
    ["timestamptz '2024-02-29 12:00:00.5+02'", '"2024-02-29T10:00:00.500Z"', '2024-02-29T10:00:00.500Z'],
    ["timestamp '2024-02-29 12:00:00'", '"2024-02-29T12:00:00.000"', '2024-02-29T12:00:00.000'],
    ["timestamp '2024-02-29 12:00:00.123456'", '"2024-02-29T12:00:00.123456"', '2024-02-29T12:00:00.123456'],
    ["'2024-02-29 12:00:00'", '"2024-02-29 12:00:00"', '2024-02-29 12:00:00'],
    ["'infinity'::timestamptz", '"infinity"', 'infinity'],
    ['interval 3 days', '"3 days"', '3 days'],
    ['[1.50, null]', '["1.50",null]', '"[""1.50"",null]"'],
    ["{'a': 1, 'b': [date '2024-01-01']}", '{"a":1,"b":["2024-01-01"]}', '"{""a"":1,""b"":[""2024-01-01""]}"'],
    ["map {'k': 1.5}", '{"k":"1.5"}', '"{""k"":""1.5""}"'],
    ['union_value(k := 1.5)', '"1.5"', '1.5'],
  ])('%s', async (sql, json, csv = json) => {
    expect(await textOf('jsonl', `select ${sql} as x`)).toBe(`{"x":${json}}\n`)
    expect(await textOf('csv', `select ${sql} as x`)).toBe(`x\n${csv}\n`)
  })

  it('json is an array, a row in each line, and an empty one without rows', async () => {
    expect(await textOf('json', 'select range as x from range(3)')).toBe('[\n{"x":0},\n{"x":1},\n{"x":2}\n]\n')
    expect(JSON.parse(await textOf('json', 'select 1 as x limit 0'))).toEqual([])
  })

  it('columns of the same name get names of their own', async () => {
    expect(await textOf('jsonl', 'select 1 as x, 2 as x, 3 as "a ""b"""')).toBe('{"x":1,"x:1":2,"a \\"b\\"":3}\n')
  })

  it('a name in CSV is quoted where it must be', async () => {
    expect(await textOf('csv', 'select 1 as "a,b"')).toBe('"a,b"\n1\n')
  })
})

describe('resolveResultFormat', () => {
  it.each([
    ['x.csv', undefined, 'csv', false],
    ['x.CSV.gz', undefined, 'csv', true],
    ['x.ndjson', undefined, 'jsonl', false],
    ['x.json.gz', undefined, 'json', true],
    ['x.parquet', undefined, 'parquet', false],
    ['x.txt', 'jsonl', 'jsonl', false],
  ] as const)('%s %s', (path, given, format, gzip) => {
    expect(resolveResultFormat(path, given)).toEqual({ format, gzip })
  })

  it.each([
    ['x', undefined],
    ['x.arrow', undefined],
    ['x.parquet.gz', undefined],
  ])('refuses %s', (path, given) => {
    expect(() => resolveResultFormat(path, given)).toThrow(expect.objectContaining({ code: 'bad_output' }))
  })
})
