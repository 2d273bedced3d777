import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Tree, TreeFile } from './tree/tree.js'

/** What was answered: status, header fields, and the bytes of the body, if any went out. */
export interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes?: Buffer | undefined
}

/** An answer that is good for the very same request while the tree has the very same file. */
interface Answer extends Sent {
  readonly path: string
  readonly file: TreeFile
}

/** Memory for answers, bytes. */
const MEMORY_BYTES = 8 * 1024 * 1024
/** No longer request is worth remembering. */
const REQUEST_BYTES = 2 * 1024

const END_OF_HEADER = Buffer.from('\r\n\r\n')

const answers = new WeakMap<IncomingMessage, Answer>()

/** Says that the answer to a request, to be sent whole, may be given again. */
export function mayRepeat(request: IncomingMessage, answer: Answer): void {
  answers.set(request, answer)
}

/**
 * Answers a request that is, byte for byte, one that was answered before, without parsing it again: half of the time of a
 * small answer is node:http's. Such a request gets the same answer as long as the tree has the same file, and is only
 * taken from a connection on which nothing but whole requests came and nothing is under way; all else goes to Node's
 * parser as ever.
 */
export function answerRepeats(server: Server, tree: Tree): void {
  const memory = new Memory(tree, server)
  const begun: ServerResponse[] = []
  server.prependListener('request', (_request, response) => begun.push(response))
  // Node gives such a connection away, and its parser to the next one that comes.
  server.on('connect', (_request, socket) => socket.removeAllListeners('data'))
  server.on('connection', (socket: Socket) => {
    // Node's parser is the one listener that a new connection has.
    const [parse] = socket.listeners('data') as [((chunk: Buffer) => void)?]
    if (parse === undefined) return
    let isPlain = true
    let last: { text: string; response: ServerResponse } | undefined
    const pass = (chunk: Buffer, text: string | undefined) => {
      begun.length = 0
      parse(chunk)
      const [response] = begun
      isPlain = text !== undefined && begun.length === 1 && response.req.complete && response.shouldKeepAlive
      last = isPlain ? { text: text as string, response } : undefined
    }
    socket.off('data', parse)
    socket.on('data', (chunk: Buffer) => {
      const text = isPlain && isWholeRequest(chunk) ? chunk.toString('latin1') : undefined
      // The first request is always for Node's parser, which else takes the connection for one that has sent nothing.
      const isIdle = last?.response.closed === true
      if (isIdle && last) memory.learn(last.text, last.response.req)
      if (text === undefined || !isIdle || !server.listening || !memory.answer(socket, text)) pass(chunk, text)
    })
  })
}

/** Whether a chunk is one GET or HEAD from its first byte to its last, as far as can be told without parsing it. */
function isWholeRequest(chunk: Buffer): boolean {
  if (chunk.length > REQUEST_BYTES || (chunk[0] !== 0x47 && chunk[0] !== 0x48)) return false
  return chunk.indexOf(END_OF_HEADER) === chunk.length - END_OF_HEADER.length
}

/** An answer as it goes over the wire; anew each second, for its Date. */
interface Message {
  readonly answer: Answer
  date: string
  bytes: Buffer
}

/** What was answered, by the text of the request. */
class Memory {
  private readonly messages = new LRUCache<string, Message>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ bytes }, text) => 2 * bytes.length + text.length + 1024,
  })
  private second = 0
  private date = ''

  constructor(
    private readonly tree: Tree,
    private readonly server: Server,
  ) {}

  /** Keeps the answer to the request with that text, where it may be given again. */
  learn(text: string, request: IncomingMessage): void {
    const answer = answers.get(request)
    if (answer === undefined) return
    answers.delete(request)
    if (request.httpVersion !== '1.1' || request.headers.expect !== undefined) return
    if (!this.isGood(answer)) return
    const date = this.now()
    this.messages.set(text, { answer, date, bytes: this.write(answer, date) })
  }

  /** Sends the answer to a request, where there is one that is still good; else says false. */
  answer(socket: Socket, text: string): boolean {
    const message = this.messages.get(text)
    if (message === undefined || socket.writableLength > 0 || !socket.writable) return false
    if (!this.isGood(message.answer)) {
      this.messages.delete(text)
      return false
    }
    const date = this.now()
    if (message.date !== date) {
      message.bytes = this.write(message.answer, date)
      message.date = date
    }
    socket.write(message.bytes)
    // Between requests Node has a shorter time for a connection than for who reads slowly.
    if (socket.writableLength > 0) socket.setTimeout(this.server.timeout)
    return true
  }

  private isGood({ path, file }: Answer): boolean {
    try {
      return this.tree.ready(path) === file
    } catch {
      // Why, the long way tells the client.
      return false
    }
  }

  /** Header and body in one piece, which leaves a third faster than in two. The fields are those that Node would send. */
  private write({ status, headers, bytes = Buffer.alloc(0) }: Answer, date: string): Buffer {
    const seconds = Math.floor(this.server.keepAliveTimeout / 1_000)
    const connection = { Connection: 'keep-alive', 'Keep-Alive': `timeout=${seconds}` }
    const fields = Object.entries({ ...headers, Date: date, ...connection })
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields.map(([name, value]) => `${name}: ${value}`)]
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
  }

  /** The present as HTTP has it (RFC 9110, 5.6.7). */
  private now(): string {
    const second = Math.floor(Date.now() / 1_000)
    if (second !== this.second) this.date = new Date(second * 1_000).toUTCString()
    this.second = second
    return this.date
  }
}
