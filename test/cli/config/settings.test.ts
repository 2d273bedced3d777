import { describe, expect, it } from 'vitest'
import { readSettings } from '../../../src/cli/config/settings.js'
import { ALL } from '../../support/cli/command-flags.js'
import { catchError } from '../../support/errors.js'

const read = (object: Record<string, unknown>) => readSettings(ALL, [{ origin: 'user', path: '/file', object }])

it.each<[string, Record<string, unknown>, number]>([
  [
    'texts, numbers, booleans and lists',
    { mirror: 'x', from: 2024, concurrency: 8, quiet: true, columns: ['open'] },
    5,
  ],
  ['a number as text, a list joined by commas', { concurrency: '8', interval: '1h,1d' }, 2],
  ['json, quiet and verbose', { json: true, quiet: false, verbose: true }, 3],
  ['sections of commands', { 'mirror verify': { repair: true }, verify: { format: 'csv', audit: false } }, 3],
  ['an empty section', { download: {} }, 0],
])('a file may set %s', async (_, object, count) => {
  expect(await read(object)).toHaveLength(count)
})

describe('errors name the file, the key, the value and what is expected', () => {
  it.each<[Record<string, unknown>, RegExp, string | undefined]>([
    [{ intreval: '1h' }, /^\/file: Unknown key "intreval"\.$/, 'Did you mean interval?'],
    [{ baseUrl: 'x' }, /^\/file: Unknown key "baseUrl"\.$/, 'Did you mean base-url?'],
    [{ '--mirror': 'x' }, /^\/file: Unknown key "--mirror"\.$/, 'Did you mean mirror?'],
    [{ repair: 1, zzzzzzz: 1 }, /^\/file: repair is 1\. Expected true or false\.$/, undefined],
    [{ zzzzzzz: 1 }, /^\/file: Unknown key "zzzzzzz"\.$/, 'Expected the long name of a flag, such as interval.'],
    [{ __proto__x: 1, toString: 1 }, /^\/file: Unknown key "__proto__x"\.$/, undefined],
    [JSON.parse('{"__proto__":1}'), /^\/file: Unknown key "__proto__"\.$/, undefined],
    [{ constructor: 1 }, /^\/file: Unknown key "constructor"\.$/, undefined],
    [{ downlaod: {} }, /^\/file: Unknown command "downlaod"\.$/, 'Did you mean download?'],
    [{ 'mirror:verify': {} }, /^\/file: Unknown command "mirror:verify"\.$/, 'Did you mean mirror verify?'],
    [
      { mirror: {} },
      /^\/file: Unknown command "mirror"\.$/,
      'Expected the whole name of a command: mirror changes, mirror clear, mirror list, mirror path, mirror prune, mirror publish, mirror status, mirror verify.',
    ],
    [{ config: { json: true } }, /^\/file: Unknown command "config"\.$/, undefined],
    [{ symbols: { interval: '1h' } }, /^\/file: klines symbols has no flag --interval\.$/, undefined],
    [{ verify: { 'fail-on-gap': true } }, /has no flag --fail-on-gap\.$/, 'Did you mean verify.fail-on-gaps?'],
    [{ 'fail-on-restated': true }, /^\/file: --fail-on-restated is gone\. .*klines download --lock/, undefined],
    [{ force: true }, /^\/file: "force" cannot be set: it replaces files/, undefined],
    [{ download: { output: 'x' } }, /^\/file: "download\.output" cannot be set: it names the file/, undefined],
    [{ 'mirror prune': { yes: true } }, /"mirror prune\.yes" cannot be set: it removes files/, undefined],
    [
      { 'users update': { data: '/etc/x' } },
      /"users update\.data" cannot be set: it names a file that is sent/,
      undefined,
    ],
    [{ help: true }, /"help" cannot be set/, undefined],
    [{ version: true }, /"version" cannot be set/, undefined],
    [
      { download: { concurrency: 'many' } },
      /^\/file: download\.concurrency is "many"\. Expected an integer\.$/,
      undefined,
    ],
    [{ concurrency: 1.5 }, /concurrency is 1\.5\. Expected an integer\.$/, undefined],
    [{ port: 70000 }, /port is 70000\. Expected an integer less than or equal to 65535\.$/, undefined],
    [{ quiet: 'true' }, /quiet is "true"\. Expected true or false\.$/, undefined],
    [{ format: 'xml' }, /format is "xml"\. Expected one of csv, json, .*parquet/, undefined],
    [{ format: 'text' }, /format is "text"\. Expected one of csv, json, .*parquet/, undefined],
    [{ verify: { format: 'parquet' } }, /verify\.format is "parquet"\. Expected one of text, csv\.$/, undefined],
    [{ mirror: true }, /mirror is true\. Expected a text or a number\.$/, undefined],
    [{ mirror: '' }, /mirror is ""\. Expected a text or a number\.$/, undefined],
    [{ mirror: null }, /mirror is null\. Expected a text or a number\.$/, undefined],
    [{ mirror: ['a'] }, /mirror is \["a"\]\. Expected a text or a number\.$/, undefined],
    [{ interval: [] }, /interval is \[\]\. Expected a list of texts\.$/, undefined],
    [{ interval: '1h,' }, /interval is "1h,"\. Expected a list of texts\.$/, undefined],
    [{ interval: ['1h', '60m'] }, /interval is \["1h","60m"\]\. Unknown interval "60m"/, 'Did you mean 1h?'],
    [{ columns: 'opem_time' }, /columns is "opem_time"\. Unknown column "opem_time"/, 'Did you mean open_time?'],
    [{ from: 'soon' }, /from is "soon"\. "soon" is not a point in time/, undefined],
    [{ last: '90' }, /last is "90"\. "90" is not a length of time/, undefined],
    [{ download: { interval: { a: 1 } } }, /download\.interval is \{"a":1\}\. Expected a list of texts\.$/, undefined],
  ])('%j', async (object, message, suggestion) => {
    const error = await catchError(read(object))
    expect(error).toMatchObject({ code: 'bad_config', message: expect.stringMatching(message) })
    if (suggestion !== undefined) expect(error.suggestions).toEqual([suggestion])
  })

  it('a password in an address is refused, and not shown', async () => {
    const error = await catchError(read({ 'base-url': 'https://me:secret@example.com' }))
    expect(error.message).toMatch(/base-url is .*\. Expected an address without a user name or password/)
    expect(error.message).not.toMatch(/secret|me:/)
  })
})
