import type { FastifyReply, FastifyRequest } from 'fastify'
import { Body } from '../body.js'
import { sendBody } from '../send.js'

/** Text that is HTML already and needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a template takes: any text, which it escapes, and HTML. */
type HtmlValue = string | number | Html | readonly Html[]

/** Tag of HTML templates: escapes every value that is not `Html`. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const text = values.map((value, index) => toMarkup(value) + parts[index + 1])
  return new Html(parts[0] + text.join(''))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function toMarkup(value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  return String(value).replace(/[&<>"']/g, character => ENTITIES[character])
}

/** What a page loads: styles in their order, and a module. */
interface PageFiles {
  readonly styles: readonly string[]
  readonly script?: string
  /** What stands before paths of this server, as for the styles: `/`, or nothing on a page at the top. */
  readonly root: string
}

/** The beginning of every page, up to what else it has in its head. */
export function pageHead(title: string, { styles, script, root }: PageFiles): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${root}docs/favicon.svg">
${styles.map(path => html`<link rel="stylesheet" href="${root}${path}">\n`)}${script === undefined ? '' : html`<script src="${root}${script}" type="module"></script>`}`
}

/** What every page of the sample shows: its prices must never be taken for real ones. */
export const SAMPLE_BADGE = html`<span class="sample" title="Synthetic data: no market ever traded at these prices">Sample data, not prices</span>`

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
