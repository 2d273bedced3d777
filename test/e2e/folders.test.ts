import { chmodSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
/** `mkdir` in a folder that is there answers "no such folder". */
const NOWHERE = '/proc/klines-test'

let sandbox: CliSandbox
beforeAll(async () => {
  sandbox = newSandbox()
  const run = await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stderr: '' })
})

describe.skipIf(!existsSync('/proc/self'))(
  'a folder where none can be made (needs /proc)',
  { concurrent: true },
  () => {
    it.each<[string, string, number, RegExp]>([
      [
        'for the mirror',
        `download BTCUSDT -i 1d --base-url sample --mirror ${NOWHERE}`,
        3,
        /^klines: Cannot write the mirror \/proc\/klines-test: .*\n {2}.*--mirror\.\n$/,
      ],
      [
        'for a file',
        `export BTCUSDT -i 1d --mirror m -q -o ${NOWHERE}/y/z.csv`,
        2,
        /^klines: Cannot write \/proc\/klines-test\/y\/z\.csv: (?!.*mkdir)/,
      ],
    ])('%s is an error, and no endless wait', async (_, command, code, message) => {
      // A native loop does not end on SIGTERM.
      const run = await sandbox.shell(`timeout -s KILL 20 klines ${command}`)
      expect(run).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
    })
  },
)

it('a working folder that was removed is named as the reason why an output cannot be written', async () => {
  const mirror = sandbox.path('m')
  const script = `mkdir gone; cd gone; rmdir ../gone; klines export BTCUSDT -i 1d --mirror ${mirror} -q -o new/x.csv`
  const run = await sandbox.shell(script)
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expect(run.stderr).toMatch(/^klines: Cannot write new\/x\.csv: the folder does not exist \(ENOENT\)\.$/m)
  expect(run.stderr).not.toContain('mkdir')
})

it.skipIf(process.platform !== 'linux')(
  'XDG folders that are not absolute do not make the mirror depend on the working folder (Linux only)',
  async () => {
    const env = { XDG_CACHE_HOME: 'here', XDG_CONFIG_HOME: './here' }
    const { stdout, stderr } = await sandbox.call(['mirror', '--path'], env)
    // A user whom the system does not know has no home folder at all.
    expect(stdout + stderr).toMatch(/^(\/|klines: .* home folder)/)
    expect(stdout).not.toContain('here')
    expect(stdout).not.toContain(sandbox.folder)
  },
)

describe.skipIf(process.getuid?.() !== 0)('a user whom the system does not know (needs root, to become one)', () => {
  /** Runs the program without HOME and SHELL as a number without a name. */
  async function runUnknown(command: string) {
    for (const folder of [sandbox.folder, dirname(sandbox.folder), dirname(dirname(sandbox.folder))])
      chmodSync(folder, 0o755)
    const unset = '-u HOME -u SHELL -u XDG_CACHE_HOME -u XDG_CONFIG_HOME -u NODE_COMPILE_CACHE'
    return sandbox.shell(`env ${unset} setpriv --reuid=2147480000 --clear-groups klines ${command}`)
  }

  it.each<[string, RegExp]>([
    ['download BTCUSDT -i 1d --base-url sample', /default mirror .* home folder.*\n {2}Set HOME .* --mirror\.\n$/],
    ['config set interval 1d', /config file .* home folder.*\n {2}Set HOME /],
  ])('is told what to do by %s', async (command, message) => {
    const run = await runUnknown(command)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
  })
})
