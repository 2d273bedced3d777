import { readFileSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import { command } from '../cli/command.js'
import { CODE_URL } from '../version.js'

export default command({
  summary: 'Print the completion script of a shell.',
  description:
    'The script completes commands, flags, symbols, intervals, formats, columns and files. Start a new shell afterwards.',
  examples: [
    { description: 'bash: add this line to ~/.bashrc', command: 'eval "$(klines completion bash)"' },
    { description: 'zsh: add this line to ~/.zshrc, after compinit', command: 'source <(klines completion zsh)' },
    {
      description: 'fish: run this once',
      command: 'klines completion fish > ~/.config/fish/completions/klines.fish',
    },
  ],
  args: { shell: Args.string({ description: 'The shell.', options: ['bash', 'zsh', 'fish'], required: true }) },
  async run({ args: { shell }, print }) {
    const { Completion } = await import('./reports/service.js')
    const path = `cli/completion/scripts/klines.${shell}`
    print(Completion, { shell, script: readFileSync(new URL(path, CODE_URL), 'utf8').trimEnd() })
  },
})
