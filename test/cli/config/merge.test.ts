import { describe, expect, it } from 'vitest'
import { listValues, mergeSettings } from '../../../src/cli/config/defaults.js'
import { type ConfigFile, readSettings } from '../../../src/cli/config/settings.js'
import { ALL } from '../../support/cli/command-flags.js'

type Content = Record<string, unknown>

const toFiles = (folder: Content, user: Content): ConfigFile[] => [
  { origin: 'folder', path: '/folder', object: folder },
  { origin: 'user', path: '/user', object: user },
]

/** The defaults of a command: by flag, its value and where it comes from. */
async function merge(name: string, folder: Content, user: Content = {}, env: NodeJS.ProcessEnv = {}) {
  const command = ALL.find(each => each.name === name)!
  const defaults = await mergeSettings(command, await readSettings(ALL, toFiles(folder, user)), env)
  return Object.fromEntries(
    [...defaults].map(([flag, { value, setting }]) => [flag, `${[value].flat().join(',')} of ${setting.path}`]),
  )
}

/** The origins of `concurrency` for `download`, the strongest first. */
const ORIGINS: {
  name: string
  folder?: Content
  user?: Content
  env?: NodeJS.ProcessEnv
  value: string | undefined
}[] = [
  { name: 'the environment', env: { KLINES_CONCURRENCY: '1' }, value: undefined },
  { name: "the folder's section", folder: { download: { concurrency: 2 } }, value: '2 of /folder' },
  { name: "the folder's file", folder: { concurrency: 3 }, value: '3 of /folder' },
  { name: "the user's section", user: { download: { concurrency: 4 } }, value: '4 of /user' },
  { name: "the user's file", user: { concurrency: 5 }, value: '5 of /user' },
]
const PAIRS = ORIGINS.flatMap((strong, index) => ORIGINS.slice(index + 1).map(weak => ({ strong, weak })))

describe('precedence', () => {
  it.each(ORIGINS)('$name alone', async ({ folder = {}, user, env, value }) => {
    expect((await merge('download', folder, user, env)).concurrency).toBe(value)
  })

  it.each(PAIRS)('$strong.name wins over $weak.name', async ({ strong, weak }) => {
    const folder = { ...weak.folder, ...strong.folder }
    const user = { ...weak.user, ...strong.user }
    expect((await merge('download', folder, user, strong.env)).concurrency).toBe(strong.value)
  })

  it('an empty variable is not set', async () => {
    expect(await merge('download', { concurrency: 3 }, {}, { KLINES_CONCURRENCY: '' })).toEqual({
      concurrency: '3 of /folder',
    })
  })

  it('each flag comes from its own origin', async () => {
    const folder = { mirror: 'data', download: { interval: '1h, 1d' } }
    const user = { interval: ['1w'], mirror: 'mine', quiet: true }
    const expected = { mirror: 'data of /folder', interval: '1h,1d of /folder', quiet: 'true of /user' }
    expect(await merge('download', folder, user)).toEqual(expected)
    expect(await merge('export', folder, user)).toEqual({ ...expected, interval: '1w of /user' })
  })
})

describe('from and last both say where a range starts', () => {
  it('the stronger origin has only one of them', async () => {
    expect(await merge('download', { from: '2024' }, { last: '7d' })).toEqual({ from: '2024 of /folder' })
    expect(await merge('download', { last: '7d' }, { from: '2024' })).toEqual({ last: '7d of /folder' })
    expect(await merge('download', { from: '2024' }, {}, { KLINES_LAST: '7d' })).toEqual({})
    expect(await merge('download', { from: '2024', download: { last: '7d' } })).toEqual({ last: '7d of /folder' })
  })

  it('both of one origin stay, and are rejected later', async () => {
    const both = { from: '2024', last: '7d' }
    expect(Object.keys(await merge('download', both))).toEqual(['from', 'last'])
  })
})

describe('keys apply to the commands that have the flag in that meaning', () => {
  const address = 'http://127.0.0.1:1'

  it.each(['users update', 'streams tokens', 'openapi'])(
    'base-url does not apply to %s, its section does',
    async name => {
      expect(await merge(name, { 'base-url': address })).toEqual({})
      expect(await merge(name, {}, { 'base-url': 'http://x', [name]: { 'base-url': address } })).toEqual({
        'base-url': `${address} of /user`,
      })
    },
  )

  it.each(['verify', 'stats', 'streams tokens'])('format does not apply to %s, its section does', async name => {
    expect(await merge(name, { format: 'csv' })).toEqual({})
    expect(await merge(name, { [name]: { format: 'text' } })).toEqual({ format: 'text of /folder' })
  })

  it('a section does not apply to other commands', async () => {
    expect(await merge('export', { download: { mirror: 'x' } })).toEqual({})
    expect(await merge('mirror verify', { 'mirror verify': { retries: 2 } })).toEqual({ retries: '2 of /folder' })
  })

  it('a flag that the command lacks is left out', async () => {
    expect(await merge('symbols', { concurrency: 2, mirror: 'x' })).toEqual({ mirror: 'x of /folder' })
  })
})

describe('listed values', () => {
  /** `key=value source`, with `!` for what is overridden. */
  async function list(folder: Content, user: Content = {}, env: NodeJS.ProcessEnv = {}) {
    const values = await listValues(ALL, await readSettings(ALL, toFiles(folder, user)), env)
    return values.map(({ key, value, source, overridden }) => `${overridden ? '!' : ''}${key}=${value} ${source}`)
  }

  it('what wins is first, what is overridden for every command is marked', async () => {
    const env = { KLINES_MIRROR: 'env', KLINES_UNKNOWN: 'x', KLINES_QUIET: '' }
    expect(await list({ mirror: 'folder', quiet: true }, { mirror: 'user', interval: ['1h', '1d'] }, env)).toEqual([
      'interval=1h,1d /user',
      'mirror=env KLINES_MIRROR',
      '!mirror=folder /folder',
      '!mirror=user /user',
      'quiet=true /folder',
    ])
  })

  it('a value that still applies to one command is not overridden', async () => {
    const folder = { download: { interval: '1h' } }
    expect(await list(folder, { interval: '1d' })).toEqual(['download.interval=1h /folder', 'interval=1d /user'])
    // Only `chart` has it.
    expect(await list({ chart: { offline: true } }, { offline: false })).toEqual([
      'chart.offline=true /folder',
      '!offline=false /user',
    ])
  })

  it('a variable of its own is listed for its command', async () => {
    expect(await list({}, {}, { KLINES_TOKENS_FORMAT: 'jsonl', KLINES_BASE_URL: 'sample' })).toEqual([
      'base-url=sample KLINES_BASE_URL',
      'streams tokens.format=jsonl KLINES_TOKENS_FORMAT',
    ])
  })
})
