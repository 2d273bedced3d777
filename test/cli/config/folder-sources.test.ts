import { describe, expect, it } from 'vitest'
import { mergeSettings } from '../../../src/cli/config/defaults.js'
import { describeFolderSources } from '../../../src/cli/config/origins.js'
import { readSettings } from '../../../src/cli/config/settings.js'
import { ALL } from '../../support/cli/command-flags.js'
import { catchError } from '../../support/errors.js'

type Content = Record<string, unknown>

/** What a run of a command says. */
async function describeRun(name: string, folder: Content, { user = {}, given = [] as string[], env = {} } = {}) {
  const files = [
    { origin: 'folder', path: '/folder/klines.config.json', object: folder },
    { origin: 'user', path: '/user/klines.config.json', object: user },
  ] as const
  const command = ALL.find(each => each.name === name)!
  const defaults = await mergeSettings(command, await readSettings(ALL, files), env)
  const isNamed = defaults.has('mirror') || given.includes('mirror') || 'KLINES_MIRROR' in env
  return describeFolderSources(name, { defaults, given: new Set(given), isNamed })
}

const FOLDER = { 'base-url': 'http://127.0.0.1:1/x/', mirror: 'candles' }

describe('a run says what it takes from the file of the folder', () => {
  it.each<[Content, string | undefined]>([
    [FOLDER, 'klines.config.json sets base-url http://127.0.0.1:1/x and mirror ./candles'],
    [{ 'base-url': 'sample' }, 'klines.config.json sets base-url sample'],
    [{ 'base-url': 'binance' }, 'klines.config.json sets base-url binance'],
    [
      { download: { 'base-url': 'binance:https://me.example' } },
      'klines.config.json sets base-url binance:https://me.example',
    ],
    [{ mirror: './a//b/' }, 'klines.config.json sets mirror ./a/b'],
    [{ mirror: '.' }, 'klines.config.json sets mirror .'],
    [{ mirror: '/folder/a' }, 'klines.config.json sets mirror ./a'],
    [{ interval: '1d', quiet: true }, undefined],
    [{ verify: FOLDER }, undefined],
  ])('%j', async (folder, expected) => {
    expect(await describeRun('download', folder)).toBe(expected)
  })

  it('an address as it is requested', async () => {
    // The first i is Cyrillic; the URL standard removes line ends.
    expect(await describeRun('symbols', { 'base-url': 'https://f\u0456nom.github.io/' })).toBe(
      'klines.config.json sets base-url https://xn--fnom-l9d.github.io',
    )
    expect(await describeRun('symbols', { 'base-url': 'http://a.example/\n\u001b[2J' })).toBe(
      'klines.config.json sets base-url http://a.example/%1B[2J',
    )
  })

  it('nothing of what the command line, the environment or the user says', async () => {
    expect(await describeRun('download', FOLDER, { given: ['base-url'] })).toBe(
      'klines.config.json sets mirror ./candles',
    )
    expect(await describeRun('download', FOLDER, { given: ['base-url', 'mirror'] })).toBeUndefined()
    const env = { KLINES_BASE_URL: 'sample', KLINES_MIRROR: 'm' }
    expect(await describeRun('download', FOLDER, { env })).toBeUndefined()
    expect(await describeRun('download', {}, { user: FOLDER })).toBeUndefined()
  })

  it.each(['users update', 'streams tokens', 'openapi', 'completion'])('nothing for %s', async name => {
    expect(await describeRun(name, FOLDER)).toBeUndefined()
  })
})

describe.each(['mirror clear', 'mirror prune'])('%s', name => {
  it('takes no mirror that an address alone chooses', async () => {
    expect(await catchError(describeRun(name, { 'base-url': 'binance' }))).toMatchObject({
      code: 'bad_config',
      message: `${name} removes files, and the base-url of /folder/klines.config.json would choose the mirror.`,
    })
  })

  it('takes one that is named, or an address of the user', async () => {
    expect(await describeRun(name, FOLDER)).toMatch(/base-url .* and mirror \.\/candles$/)
    const address = { 'base-url': 'binance' }
    expect(await describeRun(name, address, { given: ['mirror'] })).toMatch(/sets base-url binance$/)
    expect(await describeRun(name, address, { user: { mirror: '/data' } })).toMatch(/sets base-url binance$/)
    expect(await describeRun(name, address, { given: ['base-url'] })).toBeUndefined()
    expect(await describeRun(name, {}, { user: address })).toBeUndefined()
  })
})
