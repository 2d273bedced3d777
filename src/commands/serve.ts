import { BaseCommand } from '../cli/base-command.js'
import { serveFlags } from '../cli/flags/serve.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'

export default class Serve extends BaseCommand {
  static override summary = 'Serve the mirror, a candle viewer and the greeting API on this machine.'
  static override description =
    `Serves the files of the mirror under the same paths as the klines service, a page with charts and downloads, exports over HTTP, and the greeting API. Without a mirror it serves synthetic sample data. A window that is not cached is 404; with --upstream it is downloaded.
The first line on stdout is the address. Ctrl-C stops the server once pending requests are answered.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --upstream --port 0 --json',
    '<%= config.bin %> <%= command.id %> --mirror DIR -v',
    '<%= config.bin %> download BTCUSDT -i 1h --base-url http://127.0.0.1:8787',
  ]
  static override flags = {
    ...serveFlags,
    ...locationFlags,
    ...networkFlags,
  }

  /** The server gives requests five seconds to end. */
  protected override readonly graceMs: number = 8_000

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve)
    const { runServe } = await import('../cli/jobs/serve.js')
    const server = await runServe(flags, this.context(flags))
    this.showData(server)
    await server.ended
  }
}
