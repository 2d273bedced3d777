import * as Flags from '@oclif/core/flags'
import { TOKEN_FORMATS } from '../../cli/flags/greeting.js'
import { GreetingCommand } from '../../cli/greeting-command.js'

export default class StreamsTokens extends GreetingCommand {
  static override summary = 'Print the token stream of the greeting API as it arrives.'
  static override description =
    'Prints the messages of the tokens as one text. With --json, waits for the end and prints one array. If the stream breaks off or reports an error, the tokens before it are printed, and the exit code is 3.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> -f jsonl | head -3',
    '<%= config.bin %> <%= command.id %> --base-url https://hello-world.vovk.dev --json',
  ]
  static override flags = {
    format: Flags.option({
      char: 'f',
      helpGroup: 'output',
      summary: 'Output format: the messages as text, or one JSON object per line. Default: text.',
      options: TOKEN_FORMATS,
      helpValue: 'FORMAT',
      // KLINES_FORMAT is the format of candles.
      env: 'KLINES_TOKENS_FORMAT',
    })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(StreamsTokens)
    const { runTokens } = await import('../../cli/jobs/tokens.js')
    const { streamTokens } = await import('../../greeting/client.js')
    const service = this.service(flags)
    await runTokens(streamTokens(service), flags, service.signal)
  }
}
