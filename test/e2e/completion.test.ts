import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { atTerminal, hasScript } from '../support/cli/terminal.js'

const newSandbox = useSandboxes()

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['--version'])
    return true
  } catch {
    return false
  }
}

/** Why a shell cannot be tested here, for the title of its tests; empty when it can. */
function whyNot(shell: string, needsTerminal: boolean): string {
  if (!isInstalled(shell)) return ` (skipped: ${shell} is not installed)`
  return needsTerminal && !hasScript ? ' (skipped: script of util-linux is not installed)' : ''
}

/** What is typed before TAB, and what the line then is; the same line when there is nothing to complete. */
const ALL_LINES: readonly [typed: string, completed: string][] = [
  ['klines mi', 'klines mirror '],
  ['klines download BTCUSDT -i 1h --form', 'klines download BTCUSDT -i 1h --format '],
  ['klines download -- --form', 'klines download -- --form'],
  ['klines download --format=p', 'klines download --format=parquet '],
  ['klines download --from=2024-01-01T00:00 -f p', 'klines download --from=2024-01-01T00:00 -f parquet '],
  ['klines download BTCUSDT,so', 'klines download BTCUSDT,SOLUSDT '],
  // `report.csv` and `lake` are in the working folder.
  ['klines download -o rep', 'klines download -o report.csv '],
  ['klines export --mirror la', 'klines export --mirror lake/'],
]

function newFolder(): CliSandbox {
  const sandbox = newSandbox()
  sandbox.write('report.csv', '')
  mkdirSync(sandbox.path('lake'))
  return sandbox
}

/** Has a shell that waits for input complete lines; Ctrl-X p writes the line to `lines.txt` and clears it. */
async function completeAtTerminal(sandbox: CliSandbox, command: string, typed: readonly string[]): Promise<string[]> {
  const keys = `${typed.map(line => `${line}\t\u0018p`).join('')}exit\r`
  const run = await atTerminal(sandbox, command, { prompt: 'ready> ', keys, env: { ZDOTDIR: sandbox.folder } })
  if (!sandbox.exists('lines.txt')) throw new Error(`Nothing was completed: ${JSON.stringify(run)}`)
  return sandbox.text('lines.txt').trimEnd().split('\n')
}

const asLines = (pairs: readonly [string, string][]) => pairs.map(([, completed]) => `<${completed}>`)
const typedBy = (pairs: readonly [string, string][]) => pairs.map(([typed]) => typed)

const BASH_RC = `PS1='ready> '
show() { printf '<%s>\\n' "$READLINE_LINE" >> lines.txt; READLINE_LINE= READLINE_POINT=0; }
bind -x '"\\C-xp": show'
`
const ZSH_RC = `PS1='ready> '
show() { print -r -- "<$BUFFER>" >> lines.txt; BUFFER= }
zle -N show
bindkey '^Xp' show
`

describe.concurrent('completion at the prompt', () => {
  const noBash = whyNot('bash', true)
  it.skipIf(noBash)(`of bash${noBash}`, async () => {
    const sandbox = newFolder()
    sandbox.write('rc', `${BASH_RC}eval "$(klines completion bash)"\n`)
    const more: [string, string][] = [
      ['klines download "bt', 'klines download "BTCUSDT" '],
      ['klines download -f csv>rep', 'klines download -f csv>report.csv '],
    ]
    const pairs = [...ALL_LINES, ...more]
    const lines = await completeAtTerminal(sandbox, 'bash --noprofile --rcfile rc -i', typedBy(pairs))
    expect(lines).toEqual(asLines(pairs))
  })

  const noZsh = whyNot('zsh', true)
  it.skipIf(noZsh)(`of zsh${noZsh}`, async () => {
    const sandbox = newFolder()
    sandbox.write('.zshrc', `${ZSH_RC}source <(klines completion zsh)\n`)
    expect(await completeAtTerminal(sandbox, 'zsh -d -i', typedBy(ALL_LINES))).toEqual(asLines(ALL_LINES))
  })

  const noFish = whyNot('fish', false)
  it.skipIf(noFish)(`of fish${noFish}`, async () => {
    const sandbox = newFolder()
    // fish prints the last word as it would be.
    sandbox.write(
      'rc.fish',
      'klines completion fish | source\nfor line in (cat typed.txt)\n  echo "<$(complete -C $line | string replace -r "\\t.*" "")>"\nend\n',
    )
    sandbox.write('typed.txt', `${typedBy(ALL_LINES).join('\n')}\n`)
    const run = await sandbox.shell('fish --no-config rc.fish')
    const expected = ALL_LINES.map(([typed, completed]) =>
      typed === completed ? '<>' : `<${completed.trim().split(' ').at(-1)}>`,
    )
    expect(run.stderr).toBe('')
    expect(run.stdout.trimEnd().split('\n')).toEqual(expected)
  })
})

describe.concurrent('klines completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints the script of %s, as text and as JSON', async shell => {
    const sandbox = newSandbox()
    const text = await sandbox.call(['completion', shell])
    const json = await sandbox.call(['completion', shell, '--json'])
    expect(text).toMatchObject({ code: 0, stderr: '' })
    const script = readFileSync(join(PROJECT, `src/cli/completion/scripts/klines.${shell}`), 'utf8')
    expect(text.stdout).toBe(script)
    expect(JSON.parse(json.stdout)).toEqual({ shell, script: script.trimEnd(), warnings: [] })
  })
})

describe.concurrent('klines __complete', () => {
  it('answers without loading the commands', async () => {
    const lines = ['bt', '-i 1h xr', '-i 1h,4', '-i 1mi', '-f p', '--numbers de', '--columns open_time,close_']
    const words = JSON.stringify([['--ver'], ...lines.map(line => ['download', ...line.split(' ')])])
    const script = `const { printCompletion } = require(${JSON.stringify(join(PROJECT, 'dist/completion.cjs'))})
      for (const words of ${words}) printCompletion(words)
      console.log(Object.keys(require.cache).length)`
    const values = ['--version', 'BTCUSDT', 'XRPUSDT', '1h,4h', '', 'parquet', 'decimal', 'open_time,close_time']
    const run = await newSandbox().node(['-e', script])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    // A description may follow.
    const answers = values.map(value => `:words\n${value && `${value}\n`}`).join('')
    expect(run.stdout.replaceAll(/\t.*/g, '')).toBe(`${answers}1\n`)
  })
})
