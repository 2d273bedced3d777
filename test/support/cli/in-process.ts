import Module, { createRequire } from 'node:module'
import type { RetryPolicy } from '../../../src/sources/retry.js'
import type { Env } from './cli-sandbox.js'
import { type FailingCall, failCalls } from './failing-fs.mjs'

const require = createRequire(import.meta.url)
/** What a call changes beside its arguments, folder and environment. */
export interface CallSettings {
  /** Calls of the file system that fail. */
  readonly faults?: readonly FailingCall[]
  /** Changes to the default retry policy. */
  readonly policy?: Partial<RetryPolicy>
}

/** Calls run one at a time: each has the folder, the environment and the streams of this process to itself. */
let queue: Promise<unknown> = Promise.resolve()

/** How far the clock of the running call is ahead of this machine's, ms. The program keeps this function when it is loaded. */
let shiftMs = 0
const { now } = Date
Date.now = () => now() + shiftMs

/** What a call printed, and its exit code. */
interface Call {
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly code: number
}

/** Runs the built program in this process, which saves the start of another. It cannot test signals, pipes or stdin. */
export function callInProcess(
  project: string,
  args: readonly string[],
  folder: string,
  env: Env,
  settings: CallSettings = {},
): Promise<Call> {
  const result = queue.then(() => call(project, args, folder, env, settings))
  queue = result.catch(() => {})
  return result
}

async function call(
  project: string,
  args: readonly string[],
  folder: string,
  env: Env,
  { faults = [], policy }: CallSettings,
): Promise<Call> {
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode }
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
  // The time zone of a process is fixed: the tests have an odd one.
  replaceEnv({ ...env, TZ: process.env.TZ ?? 'UTC' })
  process.chdir(folder)
  process.exitCode = undefined
  if (env.KLINES_TEST_NOW) shiftMs = Number(env.KLINES_TEST_NOW) - now()
  let restoreCalls: (() => void) | undefined
  let restorePolicy: (() => void) | undefined
  try {
    const { run } = loadProgram(project)
    if (policy) restorePolicy = changePolicy(policy)
    if (faults.length > 0) restoreCalls = failCalls(faults)
    await run([...args], { root: project }).catch(sayNoCommand)
    return { stdout: stdout.bytes(), stderr: stderr.bytes(), code: Number(process.exitCode ?? 0) }
  } finally {
    restoreCalls?.()
    restorePolicy?.()
    shiftMs = 0
    process.exitCode = before.exitCode
    process.chdir(before.cwd)
    replaceEnv(before.env)
    stdout.restore()
    stderr.restore()
  }
}

/** Does what `bin/start.js` does when there is no such command. */
function sayNoCommand(error: Error & { oclif?: { exit: number }; suggestions?: string[] }): void {
  if (!error.oclif) throw error
  process.exitCode = error.oclif.exit
  process.stderr.write(`klines: ${[error.message, ...(error.suggestions ?? [])].join('\n  ')}\n`)
}

/** The default retry policy of the bundle of the commands, which shares no modules with the tests, and what a call changes of it. */
const retryPolicy: { live: Partial<RetryPolicy>; defaults: Partial<RetryPolicy>; changes: Partial<RetryPolicy> } = {
  live: {},
  defaults: {},
  changes: {},
}
const POLICY_MAKER = '__klinesRetryPolicy'
Object.assign(globalThis, {
  [POLICY_MAKER]: (defaults: RetryPolicy) => {
    retryPolicy.defaults = defaults
    return Object.assign(retryPolicy.live, defaults, retryPolicy.changes)
  },
})

/** Loads the bundle of the commands. Its text, which makes the policy when a command needs it, has it made by this file. */
function loadProgram(project: string): { run(args: string[], options: { root: string }): Promise<void> } {
  const { prototype } = Module as unknown as { prototype: { _compile(text: string, ...rest: unknown[]): unknown } }
  const { _compile } = prototype
  prototype._compile = function (text, ...rest) {
    return _compile.call(
      this,
      text.replace(/(\bRETRY_POLICY = )(\{[^}]*\})/, `$1globalThis.${POLICY_MAKER}($2)`),
      ...rest,
    )
  }
  try {
    require(`${project}/dist/commands.cjs`)
    return require(`${project}/dist/main.cjs`)
  } finally {
    prototype._compile = _compile
  }
}

/** Changes parts of the retry policy; returns a function that puts them back. */
function changePolicy(changes: Partial<RetryPolicy>): () => void {
  retryPolicy.changes = changes
  Object.assign(retryPolicy.live, changes)
  return () => {
    retryPolicy.changes = {}
    Object.assign(retryPolicy.live, retryPolicy.defaults)
  }
}

function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Collects what is written to a stream. */
function capture(stream: NodeJS.WriteStream): { bytes(): Buffer; restore(): void } {
  const chunks: Buffer[] = []
  const { write } = stream
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string))
    const callback = rest.find(argument => typeof argument === 'function')
    if (callback) process.nextTick(callback as () => void)
    return true
  }
  return {
    bytes: () => Buffer.concat(chunks),
    restore: () => {
      stream.write = write
    },
  }
}
