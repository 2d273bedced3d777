import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Plugin } from '@oclif/core'
import { describe, expect, it } from 'vitest'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'
import { filesBelow } from '../support/files-below.js'

interface Manifest {
  commands: Record<string, { flags: Record<string, { char?: string; hidden?: boolean; env?: string }> }>
}

const newSandbox = useSandboxes()
const manifestText = readFileSync(join(PROJECT, 'oclif.manifest.json'), 'utf8')
const { commands } = JSON.parse(manifestText) as Manifest
/** All but `help`, which has no flags. */
const NAMES = Object.keys(commands).flatMap(id => (id === 'help' ? [] : id.replaceAll(':', ' ')))
/**
 * Variables that are not named after their flag: the greeting service has another address, tables and tokens other formats.
 * A chart does not go where exports go by default.
 */
const OWN_VARIABLES: Record<string, string> = {
  'users update --base-url': 'KLINES_GREETING_URL',
  'streams tokens --base-url': 'KLINES_GREETING_URL',
  'openapi --base-url': 'KLINES_GREETING_URL',
  'streams tokens --format': 'KLINES_TOKENS_FORMAT',
  'verify --format': 'KLINES_TABLE_FORMAT',
  'stats --format': 'KLINES_TABLE_FORMAT',
  'chart --output': 'KLINES_CHART_OUTPUT',
  'chart --format': 'KLINES_CHART_FORMAT',
  'follow --format': 'KLINES_FOLLOW_FORMAT',
  'follow --output': 'KLINES_FOLLOW_OUTPUT',
  'funding --base-url': 'KLINES_FUNDING_URL',
  'funding --format': 'KLINES_FUNDING_FORMAT',
  'funding --output': 'KLINES_FUNDING_OUTPUT',
  'lock --output': 'KLINES_LOCK_OUTPUT',
}
/** Help whose wrapped texts are one line each again. */
const unwrapped = (help: string) => help.replaceAll(/\n {9,}(?=\S)/g, ' ')
const findFlags = (name: string) => {
  const flags = Object.entries(commands[name.replaceAll(' ', ':')].flags)
  return Object.fromEntries(flags.filter(([, { hidden }]) => !hidden))
}

describe.concurrent('help', () => {
  it('klines --help names every command', async () => {
    const run = await newSandbox().call(['--help'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    for (const name of NAMES) expect(run.stdout).toMatch(new RegExp(`^ +${name.split(' ')[0]} `, 'm'))
  })

  it.each(NAMES)('klines %s --help names its flags, and each has its variable', async name => {
    const run = await newSandbox().call([...name.split(' '), '--help'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    for (const [flag, { char, env }] of Object.entries(findFlags(name))) {
      const label = `${char ? `-${char}, ` : ''}--(\\[no-\\])?${flag}\\b`
      expect(unwrapped(run.stdout)).toMatch(new RegExp(`^  +${label}.* \\[env: ${env}\\]$`, 'm'))
      expect(env).toBe(OWN_VARIABLES[`${name} --${flag}`] ?? `KLINES_${flag.toUpperCase().replaceAll('-', '_')}`)
    }
    expect(run.stdout).toContain(`$ klines ${name}`)
    expect(run.stdout.split('\n').filter(line => line.length > 80 || line !== line.trimEnd())).toEqual([])
    for (const flag of ['json', 'quiet', 'verbose']) expect(findFlags(name)).toHaveProperty(flag)
  })

  it('klines, klines -h, klines help and klines --help are the same, and fit 80 columns', async () => {
    const sandbox = newSandbox()
    const runs = await Promise.all([[], ['-h'], ['help'], ['--help']].map(args => sandbox.call(args)))
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(runs.map(() => ({ code: 0, stderr: '' })))
    expect(runs[0].stdout.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(runs[0].stdout).toMatch(/^USAGE\n {2}\$ klines \[COMMAND\]/m)
  })

  it.each(['version --json', '--version', 'download BTCUSDT -V'])(
    'klines %s prints the version of package.json',
    async args => {
      const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
      const [platform, node] = [`${process.platform}-${process.arch}`, process.versions.node]
      const run = await newSandbox().run(args.split(' '))
      expect(run).toMatchObject({ code: 0, stderr: '' })
      if (args.includes('--json')) expect(JSON.parse(run.stdout)).toEqual({ name: 'klines', version, platform, node })
      else expect(run.stdout.startsWith(`klines/${version} `)).toBe(true)
    },
  )

  it('oclif.manifest.json describes the commands as they are now', async () => {
    // As `oclif manifest` does it.
    const options = { errorOnManifestCreate: true, ignoreManifest: true, respectNoCacheDefault: true }
    const plugin = new Plugin({ ...options, root: PROJECT, type: 'core' })
    await plugin.load()
    const manifest = JSON.parse(JSON.stringify(plugin.manifest))
    expect(manifest, 'run: npm run manifest').toEqual(JSON.parse(manifestText))
  })
})

describe.skipIf(!hasScript)('help at a terminal (skipped without script of util-linux)', { concurrent: true }, () => {
  it('fits its width and uses it', async () => {
    const columns = 200
    const run = await atTerminal(newSandbox(), 'klines download --help', { columns, env: { NO_COLOR: '1' } })
    const lengths = run.stdout.split('\r\n').map(line => line.length)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(columns)
    expect(Math.max(...lengths)).toBeGreaterThan(columns * 0.8)
    expect(unwrapped(run.stdout.replaceAll('\r', ''))).toMatch(/^ +--from=TIME .* \[env: KLINES_FROM\]$/m)
  })
})

/** The README and the documents of the package. */
const pages = ['README.md', ...filesBelow(join(PROJECT, 'src/docs')).map(name => `src/docs/${name}`)]
  .filter(name => name.endsWith('.md'))
  .map(name => [name, readFileSync(join(PROJECT, name), 'utf8')] as const)

/** The commands of a page's ```sh blocks; a line that ends in \ is joined with the next. */
const shellLines = (page: string) =>
  [...page.matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, block]) => block.replaceAll('\\\n', ' ').split('\n'))
    .map(line => line.replace(/^\$ /, '').trim())
    .filter(line => line !== '' && !line.startsWith('#'))
/** The words after `klines` in a page, up to the end of that command. */
const mentions = (page: string) =>
  [...shellLines(page), ...[...page.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code)]
    .flatMap(code => [...code.matchAll(/(?:^|(?<!\bfrom)[\s($"])klines ([^|;#&)]+)/g)])
    .map(([, rest]) => rest.trim().split(/\s+/))
const allFlags = new Set(['help', 'version', ...NAMES.flatMap(name => Object.keys(findFlags(name)))])

it('the README has commands for the sample that all work, one after the other', async () => {
  const lines = shellLines(pages[0][1]).filter(line => line.includes('--base-url sample'))
  const commands = lines.map(line => line.replace('npm ci && ', '').replace('npx klines', 'klines'))
  expect(commands.length).toBe(4)
  const sandbox = newSandbox()
  for (const command of commands.filter(line => !line.startsWith('klines serve'))) {
    const run = await sandbox.shell(`set -eo pipefail\n${command}`)
    expect(run.code, `${command}\n${run.stderr}`).toBe(0)
  }
})

it.each(pages)('%s names only existing commands and flags', (_, page) => {
  const wrong = mentions(page).flatMap(words => {
    const name = NAMES.find(command => `${words.join(' ')} `.startsWith(`${command} `))
    const topic = NAMES.some(command => command.startsWith(`${words[0]} `)) || /^(help|COMMAND)$/.test(words[0])
    const known = name ? new Set(['help', ...Object.keys(findFlags(name))]) : allFlags
    const flags = words.filter(word => word.startsWith('--')).map(word => word.slice(2).split('=')[0])
    return [
      ...(name || topic || words[0].startsWith('-') ? [] : [`klines ${words[0]}`]),
      ...flags.filter(flag => flag && !known.has(flag)).map(flag => `klines ${name ?? ''} --${flag}`),
    ]
  })
  expect(wrong).toEqual([])
})
