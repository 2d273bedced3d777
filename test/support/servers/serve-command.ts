import { once } from 'node:events'
import type { CliSandbox, Running } from '../cli/cli-sandbox.js'

/** `klines serve` as a running process. */
export interface ServeProcess extends Running {
  /** The address it printed. */
  readonly url: string
  /** Ends it like a user with Ctrl-C, or by another signal; resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Running['ended']
}

/** Starts `klines serve` on a free port, or takes the one that is `running`, and waits for its address. */
export async function startServeCommand(
  sandbox: CliSandbox,
  args: readonly string[] = [],
  running: Running = sandbox.start(['serve', '--port', '0', ...args]),
): Promise<ServeProcess> {
  const { child, ended } = running
  const [first] = await Promise.race([once(child.stdout!, 'data'), ended.then(run => Promise.reject(run))])
  const [url] = /http:\/\/[\d.:[\]a-f]+/.exec(String(first)) ?? []
  if (url === undefined) throw new Error(`no address in ${first}`)
  const stop = (signal: NodeJS.Signals = 'SIGINT') => {
    child.kill(signal)
    return ended
  }
  return { ...running, url, stop }
}
