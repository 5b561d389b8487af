import { findBrand, type Language } from '../../customers/brand/rows.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { TaskRow } from '../../platform/store/tables.ts'

/** What a client reads in the thread when a request ended because a person did not decide or answer in time. */
interface ExpiryNotices {
  noDecision: string
  noAnswer: string
  noApproval: string
}

const NOTICES: Record<Language, ExpiryNotices> = {
  en: {
    noDecision:
      'We are sorry. Your request needed a decision by our team, and nobody decided in time, so it was not completed. ' +
      'The team can start it again. You can also send us a new message.',
    noAnswer:
      'We got no answer to our question in time, so your request was not completed. ' +
      'The team can start it again. You can also send us a new message.',
    noApproval:
      'Your request needed your approval, and not everyone who was asked decided in time, so it was not completed. ' +
      'The team can start it again. You can also send us a new message.',
  },
  de: {
    noDecision:
      'Es tut uns leid. Ihre Anfrage brauchte eine Entscheidung unseres Teams, die nicht rechtzeitig kam. Sie wurde ' +
      'deshalb nicht erledigt. Unser Team kann sie neu starten. Sie können uns auch noch einmal schreiben.',
    noAnswer:
      'Wir haben nicht rechtzeitig eine Antwort auf unsere Frage bekommen. Ihre Anfrage wurde deshalb nicht erledigt. ' +
      'Unser Team kann sie neu starten. Sie können uns auch noch einmal schreiben.',
    noApproval:
      'Ihre Anfrage brauchte Ihre Zustimmung, und nicht alle Gefragten haben rechtzeitig entschieden. Sie wurde deshalb ' +
      'nicht erledigt. Unser Team kann sie neu starten. Sie können uns auch noch einmal schreiben.',
  },
  fr: {
    noDecision:
      "Nous sommes désolés. Votre demande nécessitait une décision de notre équipe, qui n'est pas arrivée à temps. " +
      "Elle n'a donc pas été traitée. Notre équipe peut la relancer. Vous pouvez aussi nous écrire à nouveau.",
    noAnswer:
      "Nous n'avons pas reçu de réponse à notre question à temps. Votre demande n'a donc pas été traitée. " +
      'Notre équipe peut la relancer. Vous pouvez aussi nous écrire à nouveau.',
    noApproval:
      "Votre demande nécessitait votre accord, et une décision n'est pas arrivée à temps. Elle n'a donc pas été traitée. " +
      'Notre équipe peut la relancer. Vous pouvez aussi nous écrire à nouveau.',
  },
  es: {
    noDecision:
      'Lo sentimos. Su solicitud necesitaba una decisión de nuestro equipo, que no llegó a tiempo. Por eso no se ' +
      'completó. Nuestro equipo puede iniciarla de nuevo. También puede volver a escribirnos.',
    noAnswer:
      'No recibimos a tiempo una respuesta a nuestra pregunta. Por eso su solicitud no se completó. ' +
      'Nuestro equipo puede iniciarla de nuevo. También puede volver a escribirnos.',
    noApproval:
      'Su solicitud necesitaba su aprobación, y una decisión no llegó a tiempo. Por eso no se completó. ' +
      'Nuestro equipo puede iniciarla de nuevo. También puede volver a escribirnos.',
  },
}

/** The notice in the language of the project's brand. */
export async function readExpiryNotice(
  { db }: Pick<Tx, 'db'>,
  { project_id }: TaskRow,
  notice: keyof ExpiryNotices,
): Promise<string> {
  const { language } = await findBrand(db, project_id)
  return NOTICES[language][notice]
}
