import * as Args from '@oclif/core/args'
import { userFlags } from '../../cli/flags.js'
import { GreetingCommand } from '../../cli/greeting-command.js'

export default class UsersUpdate extends GreetingCommand {
  static override summary = 'Update a user of the greeting service.'
  static override description =
    `Sends what is given and nothing else: what an update needs is for the server to say. A refused one is exit code 2.`
  static override examples = [
    "<%= config.bin %> <%= command.id %> 123e4567-e89b-12d3-a456-426614174000 --email a@example.com --name 'A B' --age 30 --notify email",
    '<%= config.bin %> <%= command.id %> 123e4567-e89b-12d3-a456-426614174000 --notify none --data user.json --json',
    `echo '{"profile":{"name":"A B"}}' | <%= config.bin %> <%= command.id %> 123e4567-e89b-12d3-a456-426614174000 --data - --age 31`,
  ]
  static override args = {
    id: Args.string({ description: 'Identifier of the user, a UUID.', required: true }),
  }
  static override flags = userFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UsersUpdate)
    const { runUserUpdate } = await import('../../cli/jobs/user-update.js')
    this.show(await this.withService(flags, (client, signal) => runUserUpdate(client, args.id, flags, signal)))
  }
}
