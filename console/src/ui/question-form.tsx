import { Send } from 'lucide-react'
import { type MouseEvent, type ReactNode, useId, useState } from 'react'
import { toObject } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { Button } from './button.tsx'
import { completeInput } from './complete-input.ts'
import { TextArea } from './form-fields.tsx'
import { InputFields } from './input-fields.tsx'
import { type FieldText, fieldsOfSchema } from './schema-fields.ts'
import { uiText } from './text.ts'
import { useUnsent } from './unsent-text.ts'

export type QuestionText = typeof uiText.question

/** A question of an agent. */
export interface AskedQuestion {
  question: string
  schema: JsonObject | null
  options: string[] | null
}

/**
 * The form for the answer: the options, the fields of the schema, or a text. Declining takes two clicks, so that one slip
 * does not lose the question.
 */
export function QuestionForm({
  id,
  question,
  busy,
  problem,
  text = uiText.question,
  onAnswer,
  onDecline,
}: {
  id: string
  question: AskedQuestion
  busy: boolean
  problem?: ReactNode
  /** The texts; those of the console if absent. */
  text?: QuestionText
  onAnswer: (answer: Json) => void
  onDecline: () => void
}) {
  const { value, change } = useUnsent(`answer ${id}`)
  const answer = completeAnswer(question, value)
  const [declining, setDeclining] = useState(false)
  const pressDecline = ({ detail: clicks }: MouseEvent) => {
    // The second click of a double click is no second decision.
    if (clicks > 1) return
    if (declining) onDecline()
    else setDeclining(true)
  }
  const canSend = typeof answer === 'string' ? answer.trim() !== '' : answer !== undefined
  return (
    <form
      // With the question, because several may wait.
      aria-label={`${text.label}: ${question.question}`}
      className="flex flex-col gap-3"
      onSubmit={(event) => (event.preventDefault(), answer !== undefined && onAnswer(answer))}
    >
      <AnswerFields
        question={question}
        answer={value}
        text={text}
        onChange={(to) => (change(to), setDeclining(false))}
      />
      {problem}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" disabled={busy || !canSend} icon={<Send size={14} aria-hidden />}>
          {text.send}
        </Button>
        <Button
          variant="ghost"
          className="h-auto! min-h-8 py-1 whitespace-normal!"
          disabled={busy}
          onClick={pressDecline}
        >
          {declining ? text.confirmDecline : text.decline}
        </Button>
      </div>
    </form>
  )
}

function AnswerFields({
  question: { schema, options },
  answer,
  text,
  onChange,
}: {
  question: AskedQuestion
  answer: Json
  text: QuestionText
  onChange: (answer: Json) => void
}) {
  if (options) return <OptionFields options={options} chosen={answer} label={text.answer} onChange={onChange} />
  if (!schema)
    return <TextArea label={text.answer} value={typeof answer === 'string' ? answer : ''} onChange={onChange} />
  const fields = questionFields(schema, text.fields)
  if (fields.length > 0)
    return <InputFields fields={fields} input={toObject(answer)} text={text.fields} onChange={onChange} />
  const input = answer === undefined ? {} : { answer }
  return (
    <InputFields
      fields={singleField(schema, text)}
      input={input}
      text={text.fields}
      onChange={(to) => onChange(to['answer'])}
    />
  )
}

const questionFields = (schema: JsonObject, text: FieldText) => fieldsOfSchema(schema, {}, { text, asksForJson: false })

/** The field of a schema without properties. */
const singleField = (schema: JsonObject, { answer: title, fields }: QuestionText) =>
  questionFields({ properties: { answer: { title, ...schema } }, required: ['answer'] }, fields)

/** The answer that is sent; undefined if there is none yet. */
function completeAnswer({ schema, options }: AskedQuestion, value: Json): Json {
  if (!schema || options) return value
  const fields = questionFields(schema, uiText.question.fields)
  if (fields.length === 0) {
    const input = value === undefined ? {} : { answer: value }
    return completeInput(singleField(schema, uiText.question), input)['answer']
  }
  const answer = completeInput(fields, toObject(value))
  return Object.keys(answer).length > 0 ? answer : undefined
}

function OptionFields({
  options,
  chosen,
  label,
  onChange,
}: {
  options: string[]
  chosen: Json
  label: string
  onChange: (option: string) => void
}) {
  const name = useId()
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label key={option} className="flex items-center gap-2">
          <input
            type="radio"
            name={name}
            className="size-4 shrink-0 accent-(--accent)"
            checked={chosen === option}
            onChange={() => onChange(option)}
          />
          <span className="min-w-0 wrap-anywhere">{option}</span>
        </label>
      ))}
    </fieldset>
  )
}
