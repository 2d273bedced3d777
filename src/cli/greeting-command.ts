import * as Flags from '@oclif/core/flags'
import type { GreetingClient } from '../greeting-client/client.js'
import { openGreetingClient } from '../greeting-client/open.js'
import { GREETING_BASE_URL } from '../http/base-url.js'
import { BaseCommand, type OutputOptions } from './base-command.js'
import { startEndpoint } from './endpoint.js'

/** The base of the commands of the greeting API: whom they ask, for how long, and that nothing stays on disk. */
export abstract class GreetingCommand extends BaseCommand {
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    'base-url': Flags.string({
      summary: `Base address of the greeting service, the part before /api; sample runs one for this command. Default: ${GREETING_BASE_URL}.`,
      helpValue: 'URL',
      // KLINES_BASE_URL is the address of the klines service, which is another one.
      env: 'KLINES_GREETING_URL',
    }),
  }

  protected override get interruptionAdvice(): string {
    return ''
  }

  /** Does `work` with the service that the flags name; whatever is left of it is ended. */
  protected async withService<T>(
    flags: OutputOptions & { 'base-url'?: string | undefined },
    work: (service: GreetingClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.context(flags)
    const endpoint = await startEndpoint(flags['base-url'])
    try {
      const service = await openGreetingClient({ baseUrl: endpoint.baseUrl })
      try {
        return await work(service, signal)
      } finally {
        await service.close()
      }
    } finally {
      await endpoint.close()
    }
  }
}
