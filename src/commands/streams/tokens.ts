import * as Flags from '@oclif/core/flags'
import { TOKEN_FORMATS } from '../../cli/flags.js'
import { GreetingCommand } from '../../cli/greeting-command.js'

export default class StreamsTokens extends GreetingCommand {
  static override summary = 'Print the token stream of the greeting service as it comes.'
  static override description =
    `The messages of the tokens as one text, each at once. --json waits for the end and prints one array. When the stream is cut or ends with an error, what came before it has been printed, and the exit code is 3.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> -f jsonl | head -3',
    '<%= config.bin %> <%= command.id %> --base-url https://hello-world.vovk.dev --json',
  ]
  static override flags = {
    format: Flags.option({
      char: 'f',
      summary: 'text for the messages alone (the default), jsonl for an object a line.',
      options: TOKEN_FORMATS,
      // KLINES_FORMAT is the format of candles.
      env: 'KLINES_TOKENS_FORMAT',
    })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(StreamsTokens)
    const { runTokens } = await import('../../cli/jobs/tokens.js')
    await this.withService(flags, (client, signal) => runTokens(client.streamTokens(signal), flags, signal))
  }
}
