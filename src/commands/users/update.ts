import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { KlinesError } from '../../candles/errors.js'
import { command } from '../../cli/command.js'
import { inGroup } from '../../cli/flags/group.js'
import { addressFlag } from '../../cli/flags/service.js'

export default command({
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
      age: Flags.string({ summary: 'Age in years.', helpValue: 'YEARS' }),
      notify: Flags.string({ summary: 'Notification type, such as email, push or none.', helpValue: 'TYPE' }),
    }),
  },
  advice: '',
  async run({ args, flags: { email, name, age, notify }, options, show }) {
    if ([email, name, age, notify].every(value => value === undefined)) {
      throw new KlinesError('bad_option', 'There is nothing to update.', {
        suggestions: ['Expected one or more of --email, --name, --age and --notify.'],
      })
    }
    const { updateUser } = await import('../../greeting/client.js')
    const { UsersUpdate } = await import('../reports/service.js')
    const profile = { ...(name !== undefined && { name }), ...(age !== undefined && { age: parseAge(age) }) }
    const fields = { ...(email !== undefined && { email }), ...(Object.keys(profile).length > 0 && { profile }) }
    const answer = await updateUser(args.id, fields, options)
    if (answer.success) return show(UsersUpdate, answer)
    const { cleanValue } = await import('../../sources/error-body.js')
    const message = `The server says that it did not update user ${cleanValue(answer.id)}.`
    throw new KlinesError('rejected', message, { data: { answer } })
  },
})

/** A decimal number; the server decides which ages it accepts. */
function parseAge(text: string): number {
  const age = /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(age)) return age
  throw new KlinesError('bad_option', `--age is "${text}". Expected a number, such as 30.`)
}
