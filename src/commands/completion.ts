import * as Args from '@oclif/core/args'
import { BaseCommand } from '../cli/base-command.js'

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
    const { runCompletion } = await import('../cli/jobs/completion.js')
    this.showData(runCompletion(args.shell))
  }
}
