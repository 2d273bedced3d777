import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

let sandbox: CliSandbox
beforeAll(async () => {
  sandbox = newSandbox()
  const run = await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stderr: '' })
})

describe.skipIf(process.platform !== 'linux')('a path that is not absolute (Linux only)', () => {
  it.each([['XDG_CACHE_HOME and XDG_CONFIG_HOME', { XDG_CACHE_HOME: 'here', XDG_CONFIG_HOME: './here' }]] as [
    string,
    Record<string, string>,
  ][])('in %s does not make the mirror depend on the working folder', async (_, env) => {
    const { stdout, stderr } = await sandbox.run(['mirror', '--path'], env)
    // A user whom the system does not know has no home folder at all.
    expect(stdout + stderr).toMatch(/^(\/|klines: .* home folder)/)
    expect(stdout).not.toContain('here')
    expect(stdout).not.toContain(sandbox.folder)
  })
})

describe.skipIf(process.getuid?.() !== 0)('a user whom the system does not know (needs root, to become one)', () => {
  /** Runs the program without HOME and SHELL as a number without a name. */
  async function runUnknown(command: string) {
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))])
      chmodSync(folder, 0o755)
    const unset = '-u HOME -u SHELL -u XDG_CACHE_HOME -u XDG_CONFIG_HOME -u NODE_COMPILE_CACHE'
    return sandbox.shell(`env ${unset} setpriv --reuid=2147480000 --clear-groups klines ${command}`)
  }

  it.each([
    ['download BTCUSDT -i 1d --base-url sample', /default mirror .* home folder.*\n {2}Set HOME .* --mirror\.\n$/],
    ['config set interval 1d', /config file .* home folder.*\n {2}Set HOME /],
  ] as [string, RegExp][])('is told what to do by %s', async (command, message) => {
    const run = await runUnknown(command)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
  })
})
