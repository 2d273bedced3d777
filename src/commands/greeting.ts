import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { KlinesError } from '../candles/errors.js'
import { command, refuse } from '../cli/command.js'
import { inGroup } from '../cli/flags/group.js'
import { addressFlag, numberFlag } from '../cli/flags/shared.js'
import { printJson, printTokens } from '../cli/terminal/print.js'
import type { Token } from '../greeting/schemas.js'

export const updateUser = command({
  summary: 'Update a user of the greeting API.',
  description:
    'Sends only the fields that are given; the server decides which are required. A rejected update exits with 2.',
  examples: [
    `klines users update 123e4567-e89b-12d3-a456-426614174000 \\
    --email a@example.com --name 'A B' --age 30 --notify email`,
  ],
  args: { id: Args.string({ description: 'UUID of the user.', required: true, ignoreStdin: true }) },
  flags: {
    'base-url': addressFlag('the greeting API'),
    ...inGroup('what', {
      email: Flags.string({ summary: 'Email address.', helpValue: 'ADDRESS' }),
      name: Flags.string({ summary: 'Full name.', helpValue: 'TEXT' }),
      age: numberFlag({ summary: 'Age in years.', helpValue: 'YEARS' }),
      notify: Flags.string({ summary: 'Notification type, such as email, push or none.', helpValue: 'TYPE' }),
    }),
  },
  async run({ args, flags: { email, name, age, notify }, options, show }) {
    if ([email, name, age, notify].every(value => value === undefined))
      throw refuse('There is nothing to update.', 'Expected one or more of --email, --name, --age and --notify.')
    const { updateUser } = await import('../greeting/client.js')
    const { UsersUpdate } = await import('./reports/local.js')
    const profile = { ...(name !== undefined && { name }), ...(age !== undefined && { age }) }
    const fields = { ...(email !== undefined && { email }), ...(Object.keys(profile).length > 0 && { profile }) }
    const answer = await updateUser(args.id, fields, options)
    if (answer.success) return show(UsersUpdate, answer)
    const { cleanValue } = await import('../greeting/error-body.js')
    const message = `The server says that it did not update user ${cleanValue(answer.id)}.`
    throw new KlinesError('rejected', message, { data: { answer } })
  },
})

export const tokens = command({
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
  async run({ flags: { json, format }, options }) {
    if (json && format === 'jsonl')
      throw refuse('--json prints one array, -f jsonl an object a line. Expected one of them.')
    const { streamTokens } = await import('../greeting/client.js')
    const tokens = streamTokens(options)
    if (!json) return printTokens(tokens, format === 'jsonl', options.signal)
    const all: Token[] = []
    for await (const token of tokens) all.push(token)
    printJson(all)
  },
})

export const openapi = command({
  summary: 'Print the OpenAPI document of an API as the server returns it.',
  examples: ['klines openapi', 'klines openapi klines > openapi.json'],
  args: {
    api: Args.string({
      description: 'Name of the API.',
      options: ['greeting', 'klines', 'export'],
      default: 'greeting',
      ignoreStdin: true,
    }),
  },
  flags: { 'base-url': addressFlag('the server that has the document') },
  async run({ args, options }) {
    const { getSpec } = await import('../greeting/client.js')
    printJson(await getSpec(args.api as 'greeting' | 'klines' | 'export', options))
  },
})
