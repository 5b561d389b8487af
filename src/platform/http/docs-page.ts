import { escapeHtml } from '../base/text.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from './openapi.ts'
import type { NamedSchemas, OpenApiSchema } from './openapi-schemas.ts'

/** The API reference as one HTML page, without scripts and without files from other servers. */
export function renderDocsPage(document: OpenApiDocument): string {
  const sections = document.tags.map(({ name }) => renderSection(document, name))
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>API reference</title><style>${STYLE}</style>
<nav><h1>Agent Work Service</h1><p>version ${escapeHtml(String(document.info.version))} · <a href="/openapi.json">openapi.json</a></p>
<ul>${document.tags.map(({ name }) => `<li><a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`).join('')}</ul></nav>
<main><p>${renderProse(String(document.info.description))}</p>${sections.join('')}</main></html>`
}

function renderSection(document: OpenApiDocument, name: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(name))
      .map(([method, operation]) => renderOperation(method, path, operation, document.components.schemas)),
  )
  return `<section id="${escapeHtml(name)}"><h2>${escapeHtml(name)}</h2>${operations.join('')}</section>`
}

function renderOperation(method: string, path: string, operation: OpenApiOperation, named: NamedSchemas): string {
  const id = `${method}-${path}`.replace(/[^a-z0-9]+/gi, '-')
  const body = operation.requestBody?.content['application/json']?.schema
  return `<details id="${id}"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code>
<span>${renderProse(operation.summary)}</span></summary>
<p>${renderProse(operation.description)}</p>
${renderParameters(operation.parameters ?? [])}${body ? `<h4>Body</h4>${renderFields(body, named)}` : ''}
${Object.entries(operation.responses)
  .map((entry) => renderResponse(entry, named))
  .join('')}</details>`
}

/** Parameters that all routes share are references; the page explains them once, at the top. */
function renderParameters(parameters: NonNullable<OpenApiOperation['parameters']>): string {
  const list = parameters.filter((parameter): parameter is OpenApiParameter => 'name' in parameter)
  if (list.length === 0) return ''
  const rows = list.map(
    ({ name, in: place, required, schema, description }) =>
      `<tr><td><code>${escapeHtml(name)}</code><td>${place}${required ? ', required' : ''}<td>${description ? renderProse(description) : escapeHtml(typeName(schema))}`,
  )
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`
}

/** Errors that many routes share are references; the page leaves them out. */
function renderResponse(
  [status, response]: [string, OpenApiOperation['responses'][string]],
  named: NamedSchemas,
): string {
  if ('$ref' in response) return ''
  const [type, media] = Object.entries(response.content ?? {})[0] ?? []
  if (!type || !media) return `<h4>${status}</h4>`
  return `<h4>${status} <small>${escapeHtml(type)}</small></h4>${type === 'application/json' ? renderFields(media.schema, named) : ''}`
}

const nameOf = (schema: OpenApiSchema): string | undefined =>
  typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined

/** An object as a table of its fields; any other schema as the name of its type. */
function renderFields(schemaOrReference: OpenApiSchema, named: NamedSchemas): string {
  const schema = named[nameOf(schemaOrReference) ?? ''] ?? schemaOrReference
  const properties = schema.properties as Record<string, OpenApiSchema> | undefined
  if (!properties) return `<p>${escapeHtml(typeName(schema))}</p>`
  const required = (schema.required as string[] | undefined) ?? []
  const rows = Object.entries(properties).map(
    ([name, inner]) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required.includes(name) ? '<sup>required</sup>' : ''}<td>${escapeHtml(typeName(inner))}`,
  )
  return `<table>${rows.join('')}</table>`
}

function typeName(schema: OpenApiSchema): string {
  const name = nameOf(schema)
  if (name) return name
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const forms = schema.anyOf ?? schema.oneOf
  if (Array.isArray(forms)) return forms.map((form: OpenApiSchema) => typeName(form)).join(' | ')
  if (schema.type === 'array') return `list of ${typeName((schema.items as OpenApiSchema | undefined) ?? {})}`
  const properties = schema.properties as Record<string, OpenApiSchema> | undefined
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  if (typeof schema.type === 'string') return schema.type
  return typeof schema.description === 'string' ? schema.description : 'any JSON value'
}

/** A sentence of the OpenAPI document, in which backticks mark code. */
const renderProse = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const STYLE = `
:root{color-scheme:light dark;background:light-dark(#fff,#161616);color:light-dark(#111,#eee);--line:#8884;--soft:#8882;--accent:light-dark(#1d4ed8,#8ab4ff)}
body{margin:0;font:15px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:15rem 1fr}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem;box-sizing:border-box;border-right:1px solid var(--line)}
nav h1{font-size:1.05rem;margin:0}nav ul{list-style:none;padding:0}nav li{margin:.3rem 0}
main{padding:1.5rem 2rem;max-width:60rem}h2{margin-top:2.5rem}
a{color:var(--accent)}li a{text-decoration:none}a:hover{text-decoration:underline}
details{border:1px solid var(--line);border-radius:8px;margin:.5rem 0;padding:.1rem .9rem}
summary{cursor:pointer;padding:.5rem 0;list-style-position:outside}summary span{opacity:.75;margin-left:.5rem}
summary b{font-size:.75rem;padding:.1rem .45rem;border-radius:5px;background:var(--soft)}
b.get{color:light-dark(#166534,#4ade80)}b.post{color:var(--accent)}b.put{color:light-dark(#854d0e,#facc15)}b.delete{color:light-dark(#b91c1c,#fca5a5)}
summary code,td{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;margin:.3rem 0 1rem}td{border-top:1px solid var(--line);padding:.3rem .6rem .3rem 0;vertical-align:top}
sup{margin-left:.4rem;opacity:.6;font-size:.7rem}code{font-family:ui-monospace,monospace;font-size:.92em}h4{margin:.8rem 0 .2rem}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}`
