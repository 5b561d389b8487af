// The settings of Dovecot and Postfix in the tests. `startMailServer` fills in the names that begin with a dollar sign.
export const DOVECOT_CONF = `
    base_dir = $D/run
    state_dir = $D/run
    log_path = $D/dovecot.log
    protocols = imap
    listen = 127.0.0.1
    ssl = yes
    ssl_cert = <$D/cert.pem
    ssl_key = <$D/key.pem
    disable_plaintext_auth = no
    mail_location = maildir:$D/mail/%u
    first_valid_uid = 1
    first_valid_gid = 1
    passdb {
      driver = passwd-file
      args = username_format=%u $D/users
    }
    userdb {
      driver = static
      args = uid=$U gid=$G home=$D/mail/%u
    }
    service imap-login {
      inet_listener imap {
        port = $IMAP
      }
      inet_listener imaps {
        port = 0
      }
    }
    service auth {
      unix_listener auth-client {
        mode = 0666
      }
    }
`

export const MAIN_CF = `
    compatibility_level = 3.6
    queue_directory = $D/q
    data_directory = $D/data
    mail_owner = postfix
    setgid_group = postdrop
    command_directory = /usr/sbin
    daemon_directory = /usr/lib/postfix/sbin
    myhostname = mx.test.example
    mydestination =
    inet_interfaces = 127.0.0.1
    inet_protocols = ipv4
    mynetworks = 127.0.0.2/32
    alias_maps =
    local_recipient_maps =
    virtual_mailbox_domains = test.example
    virtual_mailbox_base = $D/mail
    virtual_mailbox_maps = inline:{ agent@test.example=agent@test.example/, kim@test.example=kim@test.example/ }
    virtual_alias_maps = inline:{ gone@test.example=gone@elsewhere.example }
    virtual_minimum_uid = 1
    virtual_uid_maps = static:$U
    virtual_gid_maps = static:$G
    recipient_delimiter = +
    message_size_limit = 60000000
    virtual_mailbox_limit = 0
    default_transport = error:no outside mail in tests
    smtpd_tls_cert_file = $D/cert.pem
    smtpd_tls_key_file = $D/key.pem
    smtpd_tls_security_level = may
    smtpd_sasl_type = dovecot
    smtpd_sasl_path = $D/run/auth-client
    smtpd_relay_restrictions = permit_sasl_authenticated reject_unauth_destination
    smtpd_peername_lookup = no
    maillog_file = $D/data/postfix.log
    maillog_file_prefixes = $D
`

/** A login does not allow mail to other domains, so that a refused recipient can be tested. */
export const MASTER_CF = `
    127.0.0.1:$SUBMISSION inet n - n - - smtpd
      -o smtpd_sasl_auth_enable=yes
      -o smtpd_tls_security_level=encrypt
      -o smtpd_client_restrictions=permit_sasl_authenticated,reject
      -o smtpd_relay_restrictions=reject_unauth_destination
    127.0.0.1:$SMTP inet n - n - - smtpd
    cleanup unix n - n - 0 cleanup
    qmgr unix n - n 300 1 qmgr
    rewrite unix - - n - - trivial-rewrite
    bounce unix - - n - 0 bounce
    defer unix - - n - 0 bounce
    trace unix - - n - 0 bounce
    error unix - - n - - error
    retry unix - - n - - error
    virtual unix - n n - - virtual
    anvil unix - - n - 1 anvil
    tlsmgr unix - - n 1000? 1 tlsmgr
    postlog unix-dgram n - n - 1 postlogd
`
