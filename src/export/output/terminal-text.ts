import { escapeControls } from '../../klines/text.js'

/**
 * Bytes of a text format for a terminal, chunk by chunk: what it could interpret is escaped, as in all that the commands print. Cells
 * hold whatever the source of the candles wrote. JSON stays the same JSON.
 */
export class TerminalText {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  /** The text of the next bytes, up to the last whole character. */
  next(chunk: Uint8Array): string {
    return escapeControls(this.decoder.decode(chunk, { stream: true }))
  }

  /** What is left after the last bytes. */
  end(): string {
    return escapeControls(this.decoder.decode())
  }
}
