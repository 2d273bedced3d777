const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for an element or an attribute in double quotes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, character => ENTITIES[character])
}

/** A coordinate in pixels with one digit after the point: the same text on every machine. */
export function pixels(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** `<name a="1"/>`, or with content `<name a="1">content</name>`. Attributes are escaped, numbers rounded, `content` is XML. */
export function element(name: string, attributes: Readonly<Record<string, string | number>>, content?: string): string {
  const pairs = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${typeof value === 'number' ? pixels(value) : escapeXml(value)}"`
  })
  return content === undefined ? `<${name}${pairs.join('')}/>` : `<${name}${pairs.join('')}>${content}</${name}>`
}
