import type { SchemaShape, ShapeField } from './schema-shape.ts'

const SCALARS = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }

/** A shape as a TypeScript type. Lines after the first begin with `indent`. */
export function toTypeScript(shape: SchemaShape, indent = ''): string {
  switch (shape.kind) {
    case 'named':
      return shape.name
    case 'literal':
      return typeof shape.value === 'string' ? quoteText(shape.value) : String(shape.value)
    case 'scalar':
      return SCALARS[shape.type]
    case 'array':
      return arrayType(shape.items, indent)
    case 'map':
      // Not `Record`, which is also the name of a resource.
      return `{ [key: string]: ${toTypeScript(shape.values, indent)} }`
    case 'object':
      return objectType(shape.fields, indent)
    case 'union':
      return [...new Set(shape.of.map((one) => toTypeScript(one, indent)))].join(' | ')
    default:
      return 'unknown'
  }
}

function arrayType(items: SchemaShape, indent: string): string {
  const type = toTypeScript(items, indent)
  return items.kind === 'union' ? `(${type})[]` : `${type}[]`
}

function objectType(fields: ShapeField[], indent: string): string {
  const inner = `${indent}  `
  const lines = fields.flatMap(({ name, isRequired, description, shape }) => [
    ...(description === undefined ? [] : [`${inner}/** ${commentText(description)} */`]),
    `${inner}${fieldName(name)}${isRequired ? '' : '?'}: ${toTypeScript(shape, inner)}`,
  ])
  return `{\n${lines.join('\n')}\n${indent}}`
}

const fieldName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoteText(name))

/** A description is text of the wedge's author and must not end the comment. */
const commentText = (description: string) => description.replace(/\s+/g, ' ').trim().replaceAll('*/', '* /')

const quoteText = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
