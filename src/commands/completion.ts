import { readFileSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.js'
import { CODE_URL } from '../version.js'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script of a shell.'
  static override description =
    'The script completes commands, flags, symbols, intervals, formats, columns and files. Start a new shell afterwards.'
  static override examples = [
    { description: 'bash: add this line to ~/.bashrc', command: 'eval "$(<%= config.bin %> <%= command.id %> bash)"' },
    {
      description: 'zsh: add this line to ~/.zshrc, after compinit',
      command: 'source <(<%= config.bin %> <%= command.id %> zsh)',
    },
    {
      description: 'fish: run this once',
      command: '<%= config.bin %> <%= command.id %> fish > ~/.config/fish/completions/klines.fish',
    },
  ]
  static override args = {
    shell: Args.string({ description: 'The shell.', options: ['bash', 'zsh', 'fish'], required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Completion)
    this.context(flags)
    const path = `cli/completion/scripts/klines.${args.shell}`
    const script = readFileSync(new URL(path, CODE_URL), 'utf8').trimEnd()
    this.showData({ json: { shell: args.shell, script }, text: () => script })
  }
}
