import * as Flags from '@oclif/core/flags'
import type { GreetingClient } from '../greeting-client/client.js'
import { GREETING_BASE_URL } from '../http/base-url.js'
import { BaseCommand } from './base-command.js'
import type { OutputOptions } from './flags/run.js'

/** The flag with the address of a server that has the greeting API. */
export function addressFlag(server: string) {
  return Flags.string({
    helpGroup: 'what',
    summary: `Base address of ${server}, without /api. Default: ${GREETING_BASE_URL}.`,
    helpValue: 'URL',
    // KLINES_BASE_URL is the address of the klines service.
    env: 'KLINES_GREETING_URL',
  })
}

/** The base of the commands of the greeting API. They leave nothing on disk. */
export abstract class GreetingCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    'base-url': addressFlag('the greeting API'),
  }

  protected override readonly interruptionAdvice: string = ''

  /** Calls `work` with a client of the service that the flags name, and closes what was opened for it. */
  protected async withService<T>(
    flags: OutputOptions & { 'base-url'?: string | undefined },
    work: (client: GreetingClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.context(flags)
    const { openGreetingClient } = await import('../greeting-client/client.js')
    const client = await openGreetingClient({ baseUrl: flags['base-url'] })
    try {
      return await work(client, signal)
    } finally {
      await client.close()
    }
  }
}
