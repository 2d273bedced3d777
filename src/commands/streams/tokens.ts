import * as Flags from '@oclif/core/flags'
import { KlinesError } from '../../candles/errors.js'
import { command } from '../../cli/command.js'
import { addressFlag } from '../../cli/flags/service.js'

export default command({
  summary: 'Print the token stream of the greeting API as it arrives.',
  description:
    'Prints the messages of the tokens as one text. With --json, waits for the end and prints one array. If the stream breaks off or reports an error, the tokens before it are printed, and the exit code is 3.',
  examples: [
    'klines streams tokens',
    'klines streams tokens -f jsonl | head -3',
    'klines streams tokens --base-url https://hello-world.vovk.dev --json',
  ],
  flags: {
    format: Flags.option({
      char: 'f',
      helpGroup: 'output',
      summary: 'Output format: the messages as text, or one JSON object per line. Default: text.',
      options: ['text', 'jsonl'] as const,
      helpValue: 'FORMAT',
      // KLINES_FORMAT is the format of candles.
      env: 'KLINES_TOKENS_FORMAT',
    })(),
    'base-url': addressFlag('the greeting API'),
  },
  advice: '',
  async run({ flags: { json, format }, options }) {
    if (json && format === 'jsonl') {
      throw new KlinesError('bad_option', '--json prints one array, -f jsonl an object a line. Expected one of them.')
    }
    const { streamTokens } = await import('../../greeting/client.js')
    const { collectTokens, printTokens } = await import('../../cli/terminal/tokens.js')
    const { printJson } = await import('../../cli/terminal/print.js')
    const tokens = streamTokens(options)
    if (json) printJson(await collectTokens(tokens))
    else await printTokens(tokens, format === 'jsonl', options.signal)
  },
})
