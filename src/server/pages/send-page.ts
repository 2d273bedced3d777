import type { FastifyReply, FastifyRequest } from 'fastify'
import { Body } from '../http/body.js'
import { sendBody } from '../http/send-body.js'
import type { Html } from './html.js'

/** Only files of this server, and no inline scripts or styles; Swagger UI's icons are `data:` URLs. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** The body of a page. A page of another site may link to it, and not read it. */
export function pageBody(page: Html): Body {
  return new Body(Buffer.from(page.text), { type: 'text/html; charset=utf-8', isPrivate: true })
}

/** Answers a request with a page. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: Body): void | Promise<void> {
  return sendBody(request, reply, page, SECURITY_HEADERS)
}
