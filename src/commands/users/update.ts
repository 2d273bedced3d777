import * as Args from '@oclif/core/args'
import { userFlags } from '../../cli/flags/greeting.js'
import { GreetingCommand } from '../../cli/greeting-command.js'

export default class UsersUpdate extends GreetingCommand {
  static override summary = 'Update a user of the greeting API.'
  static override description =
    'Sends only the fields that are given; the server decides which are required. A rejected update exits with 2.'
  static override examples = [
    `<%= config.bin %> <%= command.id %> 123e4567-e89b-12d3-a456-426614174000 \\
    --email a@example.com --name 'A B' --age 30 --notify email`,
  ]
  static override args = {
    id: Args.string({ description: 'UUID of the user.', required: true, ignoreStdin: true }),
  }
  static override flags = userFlags

  async run(): Promise<void> {
    const { args, flags } = await this.parse(UsersUpdate)
    const { runUserUpdate } = await import('../../cli/jobs/user-update.js')
    this.show(await runUserUpdate(args.id, flags, this.service(flags)))
  }
}
