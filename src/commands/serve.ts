import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, networkFlags } from '../cli/flags.js'

export default class Serve extends BaseCommand {
  static override summary = 'Serve the mirror and the greeting API on this machine.'
  static override description =
    `Serves the files of the mirror under the same paths as the klines service, and the greeting API. Without a mirror it serves synthetic sample data. A window that is not cached is 404; with --upstream it is downloaded.
The first line on stdout is the address. Ctrl-C stops the server once pending requests are answered.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --upstream --port 0 --json',
    '<%= config.bin %> <%= command.id %> --mirror DIR -v',
    '<%= config.bin %> download BTCUSDT -i 1h --base-url http://127.0.0.1:8787',
  ]
  static override flags = {
    host: Flags.string({
      helpGroup: 'network',
      summary: 'Address to listen on; non-loopback addresses expose the server.',
      helpValue: 'ADDRESS',
      default: '127.0.0.1',
      env: 'KLINES_HOST',
    }),
    port: Flags.integer({
      helpGroup: 'network',
      summary: 'Port to listen on; 0 picks a free port.',
      helpValue: 'N',
      default: 8787,
      min: 0,
      max: 65_535,
      env: 'KLINES_PORT',
    }),
    upstream: Flags.boolean({
      helpGroup: 'network',
      summary: 'Download missing and open windows from the service at --base-url on request.',
      env: 'KLINES_UPSTREAM',
    }),
    strict: Flags.boolean({
      helpGroup: 'what',
      summary: 'Greeting API: accept only what the public instance accepts.',
      env: 'KLINES_STRICT',
    }),
    'stream-text': Flags.string({
      helpGroup: 'what',
      summary: 'Text of the token stream of the greeting API.',
      helpValue: 'TEXT',
      env: 'KLINES_STREAM_TEXT',
    }),
    open: Flags.boolean({ helpGroup: 'appearance', summary: 'Open the start page in a browser.', env: 'KLINES_OPEN' }),
    ...locationFlags,
    ...networkFlags,
  }

  /** The server gives requests five seconds to end. */
  protected override get graceMs(): number {
    return 8_000
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve)
    const { runServe } = await import('../cli/jobs/serve.js')
    const server = await runServe(flags, this.context(flags))
    this.showData(server)
    await server.ended
  }
}
