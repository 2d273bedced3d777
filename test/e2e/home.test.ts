import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const DAILY = csvOf(sampleRows('BTCUSDT', '1d'))
const EXPORT = 'export BTCUSDT -i 1d --mirror m -f csv -q'
const NO_XDG = { XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '' }

let sandbox: CliSandbox
beforeAll(async () => {
  sandbox = newSandbox()
  const run = await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stderr: '' })
})

it('plugins in the home folder are neither loaded nor looked at', async () => {
  const home = join(sandbox.folder, 'with-plugins')
  const data = join(home, '.local/share/klines')
  mkdirSync(data, { recursive: true })
  for (const content of ['{broken', '{"oclif":{"plugins":[{"name":"missing","type":"user"}]}}']) {
    writeFileSync(join(data, 'package.json'), content)
    for (const args of [EXPORT, 'help', 'export --help']) {
      expect(await sandbox.call(args.split(' '), { HOME: home })).toMatchObject({ code: 0, stderr: '' })
    }
  }
})

describe.skipIf(process.platform !== 'linux')('a path that is not absolute (Linux only)', () => {
  it.each([
    ['HOME', { ...NO_XDG, HOME: 'here' }],
    ['XDG_CACHE_HOME and XDG_CONFIG_HOME', { XDG_CACHE_HOME: 'here', XDG_CONFIG_HOME: './here' }],
    ['an empty HOME', { ...NO_XDG, HOME: '' }],
  ] as [string, Record<string, string>][])(
    'in %s does not make the mirror depend on the working folder',
    async (_, env) => {
      const { stdout, stderr } = await sandbox.run(['mirror', '--path'], env)
      // A user whom the system does not know has no home folder at all.
      expect(stdout + stderr).toMatch(/^(\/|klines: .* home folder)/)
      expect(stdout).not.toContain('here')
      expect(stdout).not.toContain(sandbox.folder)
    },
  )
})

describe.skipIf(process.getuid?.() !== 0)('a user whom the system does not know (needs root, to become one)', () => {
  /** Runs the program without HOME and SHELL as a number without a name. */
  async function runUnknown(command: string) {
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))])
      chmodSync(folder, 0o755)
    const unset = '-u HOME -u SHELL -u XDG_CACHE_HOME -u XDG_CONFIG_HOME -u NODE_COMPILE_CACHE'
    return sandbox.shell(`env ${unset} setpriv --reuid=2147480000 --clear-groups klines ${command}`)
  }

  it('has every command that needs no home folder', async () => {
    expect(await runUnknown(EXPORT)).toMatchObject({ code: 0, stdout: DAILY, stderr: '' })
    expect(await runUnknown('--help')).toMatchObject({ code: 0, stderr: '' })
    expect(await runUnknown('mirror --path --mirror m')).toMatchObject({ code: 0, stdout: 'm\n', stderr: '' })
    expect((await runUnknown('frobnicate')).stderr).toMatch(/^klines: Unknown command: frobnicate/)
  })

  it.each([
    ['download BTCUSDT -i 1d --base-url sample', /default mirror .* home folder.*\n {2}Set HOME .* --mirror\.\n$/],
    ['mirror --path', /default mirror .* home folder.*\n {2}Set HOME .* --mirror\.\n$/],
    ['config set interval 1d', /config file .* home folder.*\n {2}Set HOME /],
  ] as [string, RegExp][])('is told what to do by %s', async (command, message) => {
    const run = await runUnknown(command)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
  })
})
