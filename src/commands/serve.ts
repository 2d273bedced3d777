import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { locationFlags, networkFlags } from '../cli/flags.js'

export default class Serve extends BaseCommand {
  static override summary = 'Serve the mirror and the greeting API on this machine.'
  static override description =
    `Serves the same file tree as the klines service, under the same paths, from the mirror; and the greeting API. With no mirror yet, the sample. A window that is not held is 404, never an empty one; with --upstream it is fetched.
The address comes first on stdout. Ctrl-C ends the server once requests under way are answered.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --upstream --port 0 --json',
    '<%= config.bin %> <%= command.id %> --mirror DIR -v',
    '<%= config.bin %> download BTCUSDT -i 1h --base-url http://127.0.0.1:8787',
  ]
  static override flags = {
    host: Flags.string({
      summary: 'Address to listen on. Others than the loopback let the network in.',
      default: '127.0.0.1',
      env: 'KLINES_HOST',
    }),
    port: Flags.integer({
      summary: 'Port to listen on; 0 takes a free one.',
      default: 8787,
      min: 0,
      max: 65_535,
      env: 'KLINES_PORT',
    }),
    upstream: Flags.boolean({
      summary: 'Fetch what is missing or not final from the service at --base-url, into the mirror.',
      env: 'KLINES_UPSTREAM',
    }),
    strict: Flags.boolean({
      summary: 'Greeting API: take only what the public instance takes.',
      env: 'KLINES_STRICT',
    }),
    'stream-text': Flags.string({
      summary: 'What the token stream of the greeting API says, word by word.',
      helpValue: 'TEXT',
      env: 'KLINES_STREAM_TEXT',
    }),
    open: Flags.boolean({ summary: 'Open the page of the server in a browser.', env: 'KLINES_OPEN' }),
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
