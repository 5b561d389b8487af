import type { ButtonHTMLAttributes, ReactNode } from 'react'

type ButtonVariant = 'primary' | 'plain' | 'danger' | 'ghost'

const VARIANTS: Record<ButtonVariant, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent font-medium',
  plain: 'bg-surface text-text border-line-strong hover:bg-hover',
  danger: 'bg-surface text-bad border-line-strong hover:bg-bad-soft',
  ghost: 'border-transparent text-muted hover:bg-hover hover:text-text',
}

export function buttonClass(variant: ButtonVariant = 'plain', small = false): string {
  const size = small ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm'
  return `inline-flex items-center justify-center gap-1.5 rounded-md border whitespace-nowrap transition-colors disabled:opacity-50 ${size} ${VARIANTS[variant]}`
}

export function Button({
  variant = 'plain',
  small = false,
  icon,
  children,
  className = '',
  type = 'button',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { variant?: ButtonVariant; small?: boolean; icon?: ReactNode }) {
  return (
    <button type={type} className={`${buttonClass(variant, small)} ${className}`} {...rest}>
      {icon}
      {children}
    </button>
  )
}

/** The keyboard shortcut of a button. Hidden on phones, which have no keyboard. */
export function KeyCap({ children }: { children: ReactNode }) {
  return <kbd className="key-cap max-sm:hidden">{children}</kbd>
}
