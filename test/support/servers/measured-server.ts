import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { builtScript } from '../cli/built-script.js'
import { PROJECT } from '../cli/cli-sandbox.js'

/** A server in a separate process, so that its memory can be measured, and a hang does not block the test. */
export class MeasuredServer {
  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, null>,
    private readonly lines: AsyncIterator<string>,
    readonly url: string,
  ) {}

  static async start(root: string): Promise<MeasuredServer> {
    const args = ['--expose-gc', await builtScript('servers/measured-server-main.ts'), root]
    const child = spawn(process.execPath, args, { cwd: PROJECT, stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return new MeasuredServer(child, lines, (await lines.next()).value)
  }

  /** Its current memory, and the share of buffers, bytes. */
  async memory(): Promise<{ rss: number; buffers: number }> {
    this.child.stdin.write('\n')
    return JSON.parse((await this.lines.next()).value)
  }

  stop(): void {
    this.child.kill('SIGKILL')
  }
}
