// Generated from /openapi.json by `npm run api-types`. Do not edit.
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptInviteRequest: {
            invite: string;
            name?: string;
            password: string;
        };
        Action: {
            action: string;
            approval_id: string;
            /** @description Null: nothing was sent, such as a reply that is shown in the portal. */
            connection: string | null;
            connection_id: string | null;
            /** Format: date-time */
            created_at: string;
            error: string | null;
            finished_at: string | null;
            /** @enum {string} */
            outcome: "ok" | "failed" | "unknown" | "sent";
            payload_sha256: string;
            status: number | null;
            task_id: string;
        };
        ActionAmount: {
            /** @description ISO 4217, in upper case. */
            currency: string | null;
            currency_path: string | null;
            /** @description The field of the payload that states the amount. */
            path: string;
            /** @description Such as "$50.00", or what is wrong with the amount. */
            text: string;
            /** @enum {string} */
            unit: "major" | "minor";
            /** @description In major units: 50 is $50.00. Null: `text` says why. */
            value: number | null;
        };
        ActionList: {
            data: components["schemas"]["Action"][];
            next_cursor: string | null;
        };
        ActivateBlueprintError409: {
            error: string;
            missing?: components["schemas"]["ReadinessItem"][];
        };
        ActivateBlueprintResponse: {
            /** @constant */
            active: true;
            /** @constant */
            ok: true;
        };
        Analytics: {
            approvals: {
                approved: number;
                auto_approved: number;
                expired: number;
                pending: number;
                rejected: number;
                requested: number;
            };
            /** @description The 100 clients with the highest cost. */
            by_client: {
                client_id: string;
                cost_usd: number;
                runs: number;
            }[];
            by_day: {
                cost_usd: number;
                day: string;
                runs: number;
                succeeded: number;
            }[];
            by_wedge: {
                cost_usd: number;
                runs: number;
                /** @description Succeeded tasks among ended ones, from 0 to 1; null: none has ended. */
                success_rate: number | null;
                wedge: string;
            }[];
            cancelled: number;
            cost_usd: number;
            days: number;
            expired: number;
            failed: number;
            from: string;
            /** @description Median time from request to decision, in seconds. */
            median_approval_wait_s: number | null;
            rejected: number;
            runs: number;
            succeeded: number;
            /** @description Succeeded tasks among ended ones, from 0 to 1; null: none has ended. */
            success_rate: number | null;
            to: string;
        };
        AnswerIntakeQuestionRequest: {
            answer: string;
        };
        AnswerPortalQuestionRequest: {
            /** @description Any JSON value. */
            answer: Json;
        };
        AnswerPortalQuestionResponse: {
            /** @constant */
            ok: true;
        };
        Approval: {
            action: string;
            allowed_decisions: ("approve" | "edit" | "reject" | "revise")[];
            /** @description The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held. */
            amount: components["schemas"]["ActionAmount"] | null;
            approval_id: string;
            /** @description Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner. */
            approvers: string[] | null;
            /** @description The member who is asked to decide. */
            assignee: {
                id: string;
                name: string;
            } | null;
            comment_count: number;
            connection: string | null;
            connection_id: string | null;
            context: components["schemas"]["ApprovalContext"];
            /** Format: date-time */
            created_at: string;
            decided_at: string | null;
            decided_by: components["schemas"]["NamedActor"] | null;
            /** @description Of a pending request: the last approval that was held and could not be made. */
            dropped: components["schemas"]["DroppedApproval"] | null;
            edited: JsonObject | null;
            /** @description When more people were asked, because nobody decided. */
            escalated_at: string | null;
            /** @description Who started the task (`context.requested_by`) may not decide. */
            exclude_requester: boolean;
            expires_at: string | null;
            /** @description An approval that its person can still withdraw. No other decision is possible meanwhile. */
            held: components["schemas"]["HeldApproval"] | null;
            /** @description How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none. */
            hold_s: number;
            /** @description How many people must approve the same payload. */
            needed: number;
            note: string | null;
            /**
             * @description A question is answered by approve with `edited: {answer}`.
             * @enum {string}
             */
            path: "action" | "tool" | "question";
            payload_sha256: string;
            /** @description Why a rule approved the request, or why it needs a decision. */
            policy_reason: string | null;
            policy_rule: JsonObject | null;
            /** @description Any JSON value. */
            preview: Json;
            project_id: string;
            reason: string | null;
            /** @description A person sent the rejected request back with `reason` as a note, and the task continues. */
            revise: boolean;
            risk: string;
            /** @enum {string} */
            status: "pending" | "auto_approved" | "approved" | "rejected" | "expired";
            task_id: string;
            task_type: string;
            /** @description What an action of a named tool does, such as "stripe: create a refund of $50.00". */
            text: string | null;
            /** @description Who is asked a question; null for other approvals. */
            to: ("team" | "client") | null;
            /** @description Who has approved the current payload, if several people must. An edit removes them. */
            votes: components["schemas"]["ApprovalVote"][];
            wedge: string;
        };
        ApprovalComment: {
            approval_id: string;
            author: components["schemas"]["NamedActor"];
            body: string;
            /** Format: date-time */
            created_at: string;
            id: string;
        };
        ApprovalCommentList: {
            data: components["schemas"]["ApprovalComment"][];
            next_cursor: string | null;
        };
        /** @description What the request is about. */
        ApprovalContext: {
            case_id: string | null;
            /** @description The customer that the task works for. */
            client: {
                id: string;
                name: string | null;
            } | null;
            /** @description The first 4000 characters of the customer's message that started the task, else of the newest one before the approval. */
            message: {
                /** Format: date-time */
                at: string;
                body: string;
                from: components["schemas"]["MessageSender"] | null;
                id: string;
                /** @description Nothing proves that the customer wrote this mail. */
                unverified: boolean;
            } | null;
            /** @description Who started the task; null for old tasks. */
            requested_by: components["schemas"]["NamedActor"] | null;
            thread_id: string | null;
        };
        ApprovalDetail: {
            action: string;
            allowed_decisions: ("approve" | "edit" | "reject" | "revise")[];
            /** @description The amount, if the tool declares where it is. Of an edited payload: the edited amount, also while the edit is held. */
            amount: components["schemas"]["ActionAmount"] | null;
            approval_id: string;
            /** @description Roles, members and `client`, the client of the task, who may decide; null: every operator, admin and owner. */
            approvers: string[] | null;
            /** @description The member who is asked to decide. */
            assignee: {
                id: string;
                name: string;
            } | null;
            comment_count: number;
            connection: string | null;
            connection_id: string | null;
            context: components["schemas"]["ApprovalContext"];
            /** Format: date-time */
            created_at: string;
            decided_at: string | null;
            decided_by: components["schemas"]["NamedActor"] | null;
            /** @description Of a pending request: the last approval that was held and could not be made. */
            dropped: components["schemas"]["DroppedApproval"] | null;
            edited: JsonObject | null;
            /** @description When more people were asked, because nobody decided. */
            escalated_at: string | null;
            /** @description Who started the task (`context.requested_by`) may not decide. */
            exclude_requester: boolean;
            expires_at: string | null;
            /** @description The files of the payload and of the task. */
            files: components["schemas"]["File"][];
            /** @description An approval that its person can still withdraw. No other decision is possible meanwhile. */
            held: components["schemas"]["HeldApproval"] | null;
            /** @description The newest 5 earlier decisions on the same action of the wedge, newest first. */
            history: components["schemas"]["PastDecision"][];
            /** @description How many seconds the buttons of the service hold an approval, so that it can be withdrawn; 0: none. */
            hold_s: number;
            /** @description How many people must approve the same payload. */
            needed: number;
            note: string | null;
            /**
             * @description A question is answered by approve with `edited: {answer}`.
             * @enum {string}
             */
            path: "action" | "tool" | "question";
            payload_sha256: string;
            /** @description Why a rule approved the request, or why it needs a decision. */
            policy_reason: string | null;
            policy_rule: JsonObject | null;
            /** @description Any JSON value. */
            preview: Json;
            project_id: string;
            reason: string | null;
            /** @description A person sent the rejected request back with `reason` as a note, and the task continues. */
            revise: boolean;
            risk: string;
            /** @description Why the request needs a decision, and whose, in words. */
            rule: string;
            /** @description The JSON Schema of the payload, for a form; null: not known. */
            schema: JsonObject | null;
            /** @enum {string} */
            status: "pending" | "auto_approved" | "approved" | "rejected" | "expired";
            /** @description The last 10 things the agent did before it asked, oldest first. */
            steps: {
                /** Format: date-time */
                at: string;
                text: string;
            }[];
            task_id: string;
            task_type: string;
            /** @description What an action of a named tool does, such as "stripe: create a refund of $50.00". */
            text: string | null;
            /** @description The end of the conversation: at most 6 messages, oldest first. */
            thread: {
                /** Format: date-time */
                at: string;
                /** @description The member or key that wrote an answer. */
                author: components["schemas"]["NamedActor"] | null;
                body: string;
                /** @enum {string} */
                direction: "inbound" | "outbound";
                id: string;
                /** @description Nothing proves that the customer wrote this mail. */
                unverified: boolean;
            }[];
            /** @description Who is asked a question; null for other approvals. */
            to: ("team" | "client") | null;
            /** @description Who has approved the current payload, if several people must. An edit removes them. */
            votes: components["schemas"]["ApprovalVote"][];
            /** @description Members who may decide and have not approved yet. Empty once it is decided. */
            waits_for: {
                id: string;
                name: string;
            }[];
            wedge: string;
        };
        ApprovalList: {
            data: components["schemas"]["Approval"][];
            next_cursor: string | null;
        };
        ApprovalRequestedEvent: {
            data: {
                action: string;
                /** @description As in the approval. */
                amount?: JsonObject | null;
                approval_id: string;
                /**
                 * @description The client of the task may decide about this request, which is no question.
                 * @constant
                 */
                asks_client?: true;
                /** @description The connection that the action would use, if any. */
                connection?: string;
                /** Format: date-time */
                expires_at: string;
                /** @description Any JSON value. */
                preview: Json;
                risk: string;
                /** @description What an action of a named tool does, in one line. */
                text?: string | null;
                /**
                 * @description Who is asked a question. Only questions have it.
                 * @enum {string}
                 */
                to?: "team" | "client";
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.requested";
        };
        ApprovalResolvedEvent: {
            data: {
                action: string;
                approval_id: string;
                /**
                 * @description The client of the task may decide about this request, which is no question.
                 * @constant
                 */
                asks_client?: true;
                /** @description Any JSON object. */
                decided_by?: JsonObject;
                /** @enum {string} */
                decision: "approved" | "rejected" | "auto_approved";
                edited?: boolean;
                policy_reason?: string;
                revise?: boolean;
                /**
                 * @description Who is asked a question. Only questions have it.
                 * @enum {string}
                 */
                to?: "team" | "client";
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.resolved";
        };
        ApprovalVote: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["NamedActor"];
        };
        ApproveApprovalRequest: {
            edited?: JsonObject | null;
            /** @description For this many seconds the caller can withdraw the approval, and it has no effect before. */
            hold_s?: number;
            note?: string;
            /** @description The hash of the payload that the caller has read; 409 if it is another one now. */
            payload_sha256?: string;
        };
        ApprovePortalApprovalRequest: {
            /** @description The hash of the payload that the client has read; 409 if it is another one now. */
            payload_sha256?: string;
        };
        ApproveResult: components["schemas"]["Decision"] | components["schemas"]["Vote"] | components["schemas"]["HeldResult"];
        Artifact: {
            content_type: string;
            id: string;
            name: string;
            size: number;
        };
        ArtifactCreatedEvent: {
            data: {
                artifact_id: string;
                content_type: string;
                name: string;
                /** @description Bytes. */
                size: number;
                url: string;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "artifact.created";
        };
        AuditEntry: {
            action: string;
            actor: {
                id: string;
                kind: string;
            };
            /** @description Any JSON object. */
            data: JsonObject;
            hash: string;
            prev_hash: string;
            seq: number;
            subject: string;
            /** Format: date-time */
            ts: string;
        };
        AuditEntryList: {
            data: components["schemas"]["AuditEntry"][];
            next_cursor: string | null;
        };
        AuditVerification: {
            anchored_to: number | null;
            checkpoints: {
                not_verifiable: number;
                signed: number;
            };
            entries: number;
            first_bad_seq: number | null;
            head: string | null;
            ok: boolean;
            problem: string | null;
            sealed_from: number | null;
            signed_by: string | null;
        };
        Authorisation: {
            connection_id: string;
            expires_at: string | null;
            redirect_url: string | null;
            status: string;
        };
        Blueprint: {
            active: boolean;
            blueprint: string;
            /** @description Provisioned in at least one project in scope. */
            installed: boolean;
            sells_as: string;
            summary: string;
            title: string;
            wedge: string;
        };
        BlueprintList: {
            data: components["schemas"]["Blueprint"][];
            next_cursor: string | null;
            problems: {
                blueprint: string;
                problem: string;
            }[];
        };
        BlueprintParts: {
            connections: string[];
            knowledge: string[];
            schedules: string[];
        };
        Brand: {
            color: string | null;
            favicon_file_id: string | null;
            /** @description The path of the image on this server; null: there is none. */
            favicon_url: string | null;
            /** @enum {string} */
            language: "en" | "de" | "fr" | "es";
            logo_file_id: string | null;
            /** @description The path of the image on this server; null: there is none. */
            logo_url: string | null;
            /** @description The email connection that sends sign-in links and notices. */
            mail_connection_id: string | null;
            name: string | null;
            /** @description Whether clients get a mail about answers that they have not read. */
            notify: boolean;
            /** @description The channel of the conversations that clients begin in the portal; null: they cannot begin any. */
            portal_channel_id: string | null;
            /** @description The address of the portal for clients of this project. */
            portal_url: string;
            project_id: string;
            welcome: string | null;
        };
        Case: {
            /** @description The member who takes care of the case. */
            assignee: {
                id: string;
                name: string;
            } | null;
            client_id: string | null;
            closed_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Any JSON object. */
            data: JsonObject;
            /** @description The newest 200, oldest first. */
            history: components["schemas"]["CaseHistoryEntry"][];
            id: string;
            project_id: string;
            stage: string;
            /** @enum {string} */
            status: "open" | "closed";
            /** @description The newest 200, newest first. */
            task_ids: string[];
            /** @description The conversation that the case is about. */
            thread_id: string | null;
            title: string | null;
            /** Format: date-time */
            updated_at: string;
            wedge: string;
        };
        CaseHistoryEntry: {
            /** Format: date-time */
            at: string;
            by: {
                id: string;
                kind: string;
                /** @description The name of the member or API key; null for others. */
                name: string | null;
            };
            from: string | null;
            note: string | null;
            to: string;
        };
        CaseList: {
            data: components["schemas"]["Case"][];
            next_cursor: string | null;
        };
        ChangePasswordRequest: {
            new_password: string;
            password: string;
        };
        Channel: {
            /** @description The service that carries the messages; null: `/inbound` only. */
            adapter: string | null;
            address: string;
            /** @description Any JSON object. */
            config: JsonObject;
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            has_secret: boolean;
            /** @description The address to register with the provider; null: it has none. */
            hook_url: string | null;
            id: string;
            /** @description Why the last message could not be received. */
            last_error: string | null;
            last_error_at: string | null;
            last_received_at: string | null;
            project_id: string;
            settle_s: number;
            task_type: string;
            wedge: string;
        };
        ChannelAdapter: {
            adapter: string;
            /** @description Answers are sent through the connection of the channel. */
            can_reply: boolean;
            /** @description Any JSON object. */
            config_schema: JsonObject;
            /** @description What the connection of a channel must be; null: any connection will do. */
            connection: {
                kind: string;
                provider: string | null;
            } | null;
            /** @description The provider calls the `hook_url` of a channel. */
            has_hook: boolean;
            /** @description What the secret of a channel is; null: it has none. */
            secret: string | null;
        };
        ChannelList: {
            data: components["schemas"]["Channel"][];
            next_cursor: string | null;
        };
        Client: {
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            handles: string[];
            id: string;
            /** @description The last change of a conversation with the client. */
            last_activity_at: string | null;
            /** @description Any JSON object. */
            metadata: JsonObject;
            /** @description The open conversations with the client. */
            open_threads: number;
            project_id: string;
            /** Format: date-time */
            updated_at: string;
        };
        ClientList: {
            data: components["schemas"]["Client"][];
            next_cursor: string | null;
        };
        ConfirmNotificationLinkRequest: {
            token: string;
        };
        ConnectAccountRequest: {
            /** Format: uri */
            callback_url?: string;
        };
        Connection: {
            client_id: string | null;
            /** @description Any JSON object. */
            config: JsonObject;
            /** Format: date-time */
            created_at: string;
            has_secret: boolean;
            id: string;
            /** @enum {string} */
            kind: "email" | "webhook" | "custom" | "broker" | "mcp";
            last_error: string | null;
            last_error_at: string | null;
            last_ok_at: string | null;
            name: string;
            owner: {
                id: string;
                /** @enum {string} */
                kind: "founder" | "client";
            };
            project_id: string;
            secret_ref: string | null;
            /** @enum {string} */
            status: "connected" | "needs_secret" | "needs_authorisation";
            /** Format: date-time */
            updated_at: string;
        };
        ConnectionHealth: {
            checked_at: string | null;
            message: string | null;
            /** @enum {string} */
            status: "ok" | "failing" | "not_connected";
        };
        ConnectionList: {
            data: components["schemas"]["Connection"][];
            next_cursor: string | null;
        };
        ConnectionTest: {
            checked: string;
            error: string | null;
            ok: boolean;
            status: number | null;
        };
        ConnectionTool: {
            /** @description Any JSON object. */
            annotations: JsonObject;
            /** @enum {string} */
            class: "read" | "ask" | "off";
            description: string;
            hash: string | null;
            /** @description Any JSON object. */
            input_schema: JsonObject;
            name: string;
            proposed_class: ("read" | "ask") | null;
            /** @enum {string} */
            state: "confirmed" | "new" | "changed";
        };
        ConnectionWithWarnings: {
            client_id: string | null;
            /** @description Any JSON object. */
            config: JsonObject;
            /** Format: date-time */
            created_at: string;
            has_secret: boolean;
            id: string;
            /** @enum {string} */
            kind: "email" | "webhook" | "custom" | "broker" | "mcp";
            last_error: string | null;
            last_error_at: string | null;
            last_ok_at: string | null;
            name: string;
            owner: {
                id: string;
                /** @enum {string} */
                kind: "founder" | "client";
            };
            project_id: string;
            secret_ref: string | null;
            /** @enum {string} */
            status: "connected" | "needs_secret" | "needs_authorisation";
            /** Format: date-time */
            updated_at: string;
            warnings: string[];
        };
        ConnectToolkitRequest: {
            /** Format: uri */
            callback_url?: string;
            client_id?: string | null;
            read_tools?: string[];
        };
        CostChargedEvent: {
            data: {
                cache_read_tokens?: number;
                cache_write_tokens?: number;
                cost_usd: number;
                /** @description From the request of the agent to the end of the reply. */
                duration_ms?: number;
                /** @description Why the model stopped, in the words of the provider. */
                finish_reason?: string;
                /** @description Includes the tokens of the cache. */
                input_tokens: number;
                model: string;
                output_tokens: number;
                provider?: string;
                /** @description The model that wrote the reply, as the provider says. */
                response_model?: string;
                streamed?: boolean;
                total_usd: number;
                /** @description The model has no known price. */
                unpriced?: boolean;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "cost.charged";
        };
        CreateApprovalCommentRequest: {
            body: string;
        };
        CreateCaseRequest: {
            assignee_id?: string | null;
            client_id?: string | null;
            /** @description Any JSON object. */
            data?: JsonObject;
            stage?: string;
            thread_id?: string | null;
            title?: string | null;
            wedge: string;
        };
        CreateCaseTaskRequest: {
            /** @description Any JSON value. */
            actor?: Json;
            constraints?: {
                approval_required?: boolean;
                max_cost_usd?: number;
                max_runtime_s?: number;
            };
            /** @description Ids of files that were uploaded before. */
            files?: string[];
            /** @description Any JSON value. */
            input?: Json;
            output_schema?: JsonObject | null;
            task_type: string;
            tools?: string[];
        };
        CreateChannelRequest: {
            /** @description The service that carries the messages; null: `/inbound` only. */
            adapter?: string | null;
            address: string;
            /** @description In the form of the adapter. */
            config?: {
                [key: string]: unknown;
            };
            connection_id: string;
            /** @description How long the task of a message waits for more messages, which then become part of it. */
            settle_s?: number;
            task_type: string;
            wedge: string;
        };
        CreateClientRequest: {
            display_name?: string | null;
            handles?: string[];
            /** @description Any JSON object. */
            metadata?: JsonObject;
        };
        CreateConnectionRequest: {
            client_id?: string | null;
            /** @description The address and other settings of its kind. A custom connection may have `base_url` and `operations: [{name, description?, method, path, query?, headers?, body?, input_schema?, read?, idempotency_header?, success?, amount?}]`. */
            config?: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            kind?: "email" | "webhook" | "custom" | "broker" | "mcp";
            name: string;
            owner?: {
                id?: string;
                /** @enum {string} */
                kind: "founder" | "client";
            };
            params?: {
                [key: string]: string | number;
            };
            preset?: string;
            secret_ref?: string | null;
        };
        CreateKeyRequest: {
            name: string;
            /**
             * @default admin
             * @enum {string}
             */
            role: "viewer" | "operator" | "admin";
        };
        CreateKnowledgeRequest: {
            content: string;
            /**
             * @default note
             * @enum {string}
             */
            kind: "note" | "fact" | "correction" | "feedback" | "answer" | "seed";
            /** @description Any JSON object. */
            metadata?: JsonObject;
            name: string;
            source?: string | null;
        };
        CreateMcpAuthorisationRequest: {
            client_id: string;
            code_challenge?: string;
            code_challenge_method?: string;
            project_id: string;
            redirect_uri: string;
            resource?: string;
            response_type?: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
            state?: string;
        };
        CreateMcpAuthorisationResponse: {
            redirect_to: string;
        };
        CreateMcpTokenError400: {
            error: string;
            error_description?: string;
        };
        CreateMcpTokenResponse: {
            access_token: string;
            expires_in: number;
            refresh_token: string;
            /** @description The role that the member chose. */
            scope: string;
            token_type: string;
        };
        CreateNotificationLinkRequest: {
            /** @enum {string} */
            kind: "slack" | "telegram" | "mail";
        };
        CreatePortalDeviceLinkResponse: {
            /** Format: date-time */
            expires_at: string;
            token: string;
            url: string;
        };
        CreatePortalLinkResponse: {
            /** Format: date-time */
            expires_at: string;
            token: string;
            url: string;
        };
        CreatePortalMessageRequest: {
            body: string;
            /** @description Ids of files that were uploaded before. */
            files?: string[];
        };
        CreatePortalSessionRequest: {
            token: string;
        };
        CreatePortalSessionResponse: {
            client: components["schemas"]["PortalClient"];
            /** Format: date-time */
            expires_at: string;
            session_token: string;
        };
        CreatePortalThreadRequest: {
            body: string;
            /** @description Ids of files that were uploaded before. */
            files?: string[];
            subject?: string | null;
        };
        CreateProjectRequest: {
            name: string;
            tier?: string;
            wedges?: string[] | null;
        };
        CreateScheduleRequest: {
            cadence: {
                /** @constant */
                kind: "every";
                seconds: number;
            } | {
                hour: number;
                /** @constant */
                kind: "daily";
                minute: number;
            } | {
                day: number;
                hour: number;
                /** @constant */
                kind: "monthly";
                minute: number;
            } | {
                /**
                 * @description Five cron fields: minute, hour, day, month, weekday.
                 * @example 30 9 * * 1-5
                 */
                expr: string;
                /** @constant */
                kind: "cron";
                /**
                 * @description An IANA time zone.
                 * @example Europe/Berlin
                 */
                tz: string;
            };
            case_id?: string | null;
            client_id?: string | null;
            enabled?: boolean;
            /** @description Any JSON value. */
            input?: Json;
            name: string;
            task_type: string;
            wedge: string;
        };
        CreateTaskFeedbackRequest: {
            /** @description Any JSON value. */
            correction?: Json;
            note?: string;
            rating?: number | string;
        };
        CreateTaskRequest: {
            /** @description Any JSON value. */
            actor?: Json;
            /** @description The client for whom the task is. The task is erased with it. */
            client_id?: string | null;
            constraints?: {
                approval_required?: boolean;
                max_cost_usd?: number;
                max_runtime_s?: number;
            };
            /** @description Ids of files that were uploaded before. */
            files?: string[];
            /** @description Any JSON value. */
            input?: Json;
            output_schema?: JsonObject | null;
            task_type: string;
            tools?: string[];
            wedge: string;
        };
        CreateThreadMessageRequest: {
            body: string;
            /** @description Ids of files that were uploaded before. */
            files?: string[];
        };
        CreateWebhookRequest: {
            enabled?: boolean;
            events: ("approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed")[];
            url: string;
        };
        DecideLinkedApprovalRequest: {
            /** @enum {string} */
            decision: "approve" | "reject" | "revise";
            edited?: JsonObject | null;
            /** @description For this many seconds the caller can withdraw the approval, and it has no effect before. */
            hold_s?: number;
            /** @description Of an approval; or what to change, for `revise`. */
            note?: string;
            /** @description Of the payload that the member saw: 409 for another one. */
            payload_sha256?: string;
            /** @description Why it is rejected. */
            reason?: string;
        };
        Decision: {
            /** @enum {string} */
            decision: "approved" | "rejected";
            /** @constant */
            ok: true;
        };
        DeclinePortalQuestionResponse: {
            /** @constant */
            ok: true;
        };
        /** @description An approval that was held and could not be made: `reason` says why. */
        DroppedApproval: {
            /** Format: date-time */
            at: string;
            by: components["schemas"]["NamedActor"];
            reason: string;
        };
        EndMcpSessionError405: {
            error: string;
        };
        EndPortalSessionRequest: {
            everywhere?: boolean;
        };
        EndPortalSessionResponse: {
            /** @constant */
            ok: true;
        };
        Erasure: {
            client_id: string;
            erased: {
                connections: number;
                files: number;
                knowledge: number;
                messages: number;
                tasks: number;
                threads: number;
            };
        };
        Error: {
            /** @description A sentence for developers. */
            error: string;
        };
        /** @description One event of a task. `type` decides what `data` holds. */
        Event: components["schemas"]["TaskCreatedEvent"] | components["schemas"]["StepStartedEvent"] | components["schemas"]["ToolCalledEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["TokenDeltaEvent"] | components["schemas"]["ApprovalRequestedEvent"] | components["schemas"]["ApprovalResolvedEvent"] | components["schemas"]["OutputValidatedEvent"] | components["schemas"]["ArtifactCreatedEvent"] | components["schemas"]["CostChargedEvent"] | components["schemas"]["FeedbackRecordedEvent"] | components["schemas"]["TaskFinishedEvent"];
        FeedbackRecordedEvent: {
            data: {
                knowledge_id: string | null;
                note?: string;
                /** @description Any JSON value. */
                rating?: Json;
                /** @enum {string} */
                source: "approval" | "task";
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "feedback.recorded";
        };
        File: {
            content_type: string;
            /** Format: date-time */
            created_at: string;
            id: string;
            name: string;
            sha256: string;
            size: number;
        };
        FileList: {
            data: components["schemas"]["File"][];
            next_cursor: string | null;
        };
        GetAccountStatusResponse: {
            active: boolean;
            status: string;
        };
        GetHealthError503: {
            error: string;
            status: string;
        };
        GetMcpAuthorisationServerResponse: {
            authorization_endpoint: string;
            authorization_response_iss_parameter_supported: boolean;
            code_challenge_methods_supported: string[];
            grant_types_supported: string[];
            issuer: string;
            registration_endpoint: string;
            response_modes_supported: string[];
            response_types_supported: string[];
            revocation_endpoint: string;
            revocation_endpoint_auth_methods_supported: string[];
            token_endpoint: string;
            token_endpoint_auth_methods_supported: string[];
        };
        GetMcpResourceOfOriginResponse: {
            authorization_servers: string[];
            bearer_methods_supported: string[];
            resource: string;
            resource_name: string;
        };
        GetMcpResourceResponse: {
            authorization_servers: string[];
            bearer_methods_supported: string[];
            resource: string;
            resource_name: string;
        };
        GetMcpStreamError405: {
            error: string;
        };
        GetReadinessError503: {
            error: string;
            status: string;
        };
        Health: {
            /** @constant */
            status: "ok";
        };
        HeldApproval: {
            by: components["schemas"]["NamedActor"];
            /** @constant */
            decision: "approved";
            /** @description All fields that differ from `preview` when it is sent; null: it edits nothing. */
            edited: JsonObject | null;
            /** @description When the approval is made. `by` can withdraw it before. */
            until: string;
        };
        /** @description The approval is made after `hold_s` seconds, unless it is withdrawn. */
        HeldResult: {
            /** @constant */
            decision: "held";
            held: components["schemas"]["HeldApproval"];
            /** @constant */
            ok: true;
        };
        Intake: {
            /** @description Percent of the shown questions that are answered. */
            coverage: number;
            /** @description Open seed questions and the newest 1000 others. */
            questions: components["schemas"]["IntakeQuestion"][];
            wedge: string;
        };
        IntakeQuestion: {
            answer: string | null;
            /** @description How many runs asked for it. */
            asked: number;
            created_at: string | null;
            id: string;
            /** @enum {string} */
            kind: "seed" | "gap";
            knowledge_id: string | null;
            project_id: string;
            question: string;
            /** @enum {string} */
            status: "open" | "answered" | "dismissed";
            task_id: string | null;
            why: string | null;
        };
        Invite: {
            /** Format: date-time */
            expires_at: string;
            invite: string;
            member: components["schemas"]["Member"];
        };
        InviteMemberRequest: {
            email: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        Key: {
            /** Format: date-time */
            created_at: string;
            hint: string;
            id: string;
            last_used_at: string | null;
            name: string;
            project_id: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        KeyList: {
            data: components["schemas"]["Key"][];
            next_cursor: string | null;
        };
        KeyWithSecret: {
            /** Format: date-time */
            created_at: string;
            hint: string;
            id: string;
            key: string;
            last_used_at: string | null;
            name: string;
            project_id: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        Knowledge: {
            content: string;
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @enum {string} */
            kind: "note" | "fact" | "correction" | "feedback" | "answer" | "seed";
            /** @description Any JSON object. */
            metadata: JsonObject;
            name: string;
            project_id: string;
            source: string | null;
            task_id: string | null;
            /** Format: date-time */
            updated_at: string;
            version: number;
            wedge: string;
        };
        KnowledgeList: {
            data: components["schemas"]["Knowledge"][];
            next_cursor: string | null;
        };
        KnowledgeRevision: {
            /** Format: date-time */
            at: string;
            by: {
                id: string;
                kind: string;
            };
            content: string;
            /** @enum {string} */
            kind: "note" | "fact" | "correction" | "feedback" | "answer" | "seed";
            name: string;
            version: number;
        };
        KnowledgeRevisionList: {
            data: components["schemas"]["KnowledgeRevision"][];
            next_cursor: string | null;
        };
        LinkedApproval: {
            approval: components["schemas"]["ApprovalDetail"];
            member: {
                email: string;
                id: string;
                name: string | null;
            };
        };
        ListCaseFilesResponse: {
            data: components["schemas"]["File"][];
        };
        ListChannelAdaptersResponse: {
            data: components["schemas"]["ChannelAdapter"][];
        };
        ListConnectionToolsResponse: {
            data: components["schemas"]["ConnectionTool"][];
        };
        McpApp: {
            client_id: string;
            client_id_issued_at: number;
            client_name: string;
            grant_types: string[];
            redirect_uris: string[];
            response_types: string[];
            token_endpoint_auth_method: string;
        };
        McpAuthorisation: {
            app: {
                id: string;
                name: string;
            };
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description When the app last got a token. */
            last_used_at: string | null;
            member: {
                id: string;
                name: string;
            };
            project_id: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        McpAuthorisationList: {
            data: components["schemas"]["McpAuthorisation"][];
            next_cursor: string | null;
        };
        McpConsent: {
            app: {
                name: string;
                redirect_host: string;
            };
            /** @description What is wrong with the request of the app; null: nothing. */
            error: string | null;
            /** @description Returns to the app without access: the member refused, or the error. */
            return_url: string;
        };
        Member: {
            /** Format: date-time */
            created_at: string;
            email: string;
            id: string;
            name: string | null;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
            /** @enum {string} */
            status: "invited" | "active";
        };
        MemberList: {
            data: components["schemas"]["Member"][];
            next_cursor: string | null;
        };
        Message: {
            /** @description The member or key that wrote an answer; null: an agent. */
            author: components["schemas"]["NamedActor"] | null;
            body: string;
            /** Format: date-time */
            created_at: string;
            /** @description How the message left the service; null: the client reads it in the portal only. */
            delivery: ("sending" | "sent" | "failed" | "unknown") | null;
            delivery_error: string | null;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            external_id: string | null;
            files: components["schemas"]["File"][];
            /** @description The sender; null if the agent or a member wrote it. */
            from: components["schemas"]["MessageSender"] | null;
            id: string;
            /** @description An automatic reply, a bounce, or a notice that the service shows in the portal. */
            is_automatic: boolean;
            /** @description The address in From, if the mail names its sender in Reply-To; null: the sender sent it. */
            sent_by: string | null;
            subject: string | null;
            task_id: string | null;
            /** @description The recipients of a mail; null for a message in the thread. */
            to: string[] | null;
            /** @description Nothing proves that the client wrote this mail, so it answers no question of an agent. */
            unverified: boolean;
            /** @description What the mail server found out about the sender, or about `sent_by`: SPF, DKIM, DMARC. */
            verdict: JsonObject | null;
        };
        MessageSender: {
            handle: string | null;
            name: string | null;
        };
        Meta: {
            broker: {
                configured: boolean;
            };
            model: {
                name: string;
                provider: string;
            };
            problems: {
                problem: string;
                wedge: string;
            }[];
            replica: string;
            /**
             * @description What this replica does: SVC_ROLE.
             * @enum {string}
             */
            role: "all" | "api" | "runner";
            /** @description The sandbox of this replica; its kind is `none` if the replica executes no tasks. */
            sandbox: {
                /** @description Any JSON object. */
                isolation: JsonObject;
                kind: string;
                /** @description How the memory and the processes of a cell are limited together: by its `cgroup`, or (`process`) per process and by the service, which watches their sum. `reason` says why there is no cgroup. */
                limiting: {
                    /** @enum {string} */
                    kind: "cgroup" | "process" | "none";
                    reason: string | null;
                };
            };
            store: {
                kind: string;
            };
            vault: {
                /** @description Without SVC_SECRET_KEY: stored secrets are lost at the next start. */
                ephemeral: boolean;
            };
            version: string;
            wedges: {
                task_types: string[];
                title: string;
                wedge: string;
            }[];
        };
        MyNotifications: {
            /** @description The services that the project has set up. */
            available: ("slack" | "telegram" | "mail")[];
            links: components["schemas"]["NotificationLink"][];
            project_settings: components["schemas"]["NotificationSettings"];
            /** @description Null: those of the project. */
            settings: components["schemas"]["NotificationSettings"] | null;
        };
        /** @description A member, an API key, a client or the service. `name` is null if it has none. */
        NamedActor: {
            id: string;
            kind: string;
            name: string | null;
        };
        NamedText: {
            content: string;
            name: string;
        };
        NeedsYou: {
            /** @description How many items each kind has in all, which may be more than `data` has. */
            counts: {
                [key: string]: number;
            };
            data: components["schemas"]["NeedsYouItem"][];
            /** @description At least one kind has more items than are shown. */
            has_more: boolean;
        };
        NeedsYouItem: {
            /** @description Of an approval or a question. */
            approval: components["schemas"]["Approval"] | null;
            /** @description Why it needs a person: an error, a reason or the question. */
            detail: string | null;
            /** @description The id of the approval, thread, task, connection, channel, schedule or question; the project of `lost_secrets`. */
            id: string;
            /** @enum {string} */
            kind: "lost_secrets" | "approval" | "question" | "conversation" | "expired_task" | "connection" | "channel" | "schedule" | "intake";
            project_id: string;
            since: string;
            /** @description Of an expired task. */
            task: components["schemas"]["Task"] | null;
            /** @description The conversation of an approval or a question; null: it has none. */
            thread: {
                adapter: string | null;
                client_name: string | null;
                id: string;
                subject: string | null;
            } | null;
            title: string | null;
            wedge: string | null;
        };
        NotificationLink: {
            /** @description The user id at Slack, the chat id at Telegram, or the mail address. */
            address: string;
            /** @enum {string} */
            kind: "slack" | "telegram" | "mail";
            /** Format: date-time */
            linked_at: string;
        };
        NotificationSettings: {
            /**
             * @description When the digest is sent.
             * @example 09:00
             */
            digest_at: string;
            high: {
                via: ("slack" | "telegram" | "mail")[];
                /** @enum {string} */
                when: "now" | "digest" | "never";
            };
            low: {
                via: ("slack" | "telegram" | "mail")[];
                /** @enum {string} */
                when: "now" | "digest" | "never";
            };
            medium: {
                via: ("slack" | "telegram" | "mail")[];
                /** @enum {string} */
                when: "now" | "digest" | "never";
            };
            /** @description Messages wait until they end. */
            quiet_hours: {
                /** @example 09:00 */
                from: string;
                /** @example 09:00 */
                to: string;
            } | null;
            /**
             * @description An IANA time zone.
             * @example Europe/Berlin
             */
            time_zone: string;
            /** @description Requests of high risk are sent during quiet hours, too. */
            wake_for_high: boolean;
        };
        Notifier: {
            /** @description The name of the connection; null: it was deleted. */
            connection: string | null;
            connection_id: string;
            /** Format: date-time */
            created_at: string;
            has_secret: boolean;
            /** @description The address to register with the service, for clicks on buttons; null: it has none. */
            hook_url: string | null;
            /** @enum {string} */
            kind: "slack" | "telegram" | "mail";
            /** @description What the secret is, in words; null: the service has none. */
            secret: string | null;
        };
        NotifierList: {
            data: components["schemas"]["Notifier"][];
        };
        OauthStart: {
            authorize_url: string;
        };
        Organisation: {
            /** Format: date-time */
            created_at: string;
            id: string;
            name: string;
        };
        OutputValidatedEvent: {
            data: {
                errors: {
                    message: string;
                    path: string;
                }[];
                ok: boolean;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "output.validated";
        };
        PastDecision: {
            approval_id: string;
            decided_at: string | null;
            decided_by: components["schemas"]["NamedActor"] | null;
            edited: boolean;
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "auto_approved" | "approved" | "rejected" | "expired";
            text: string | null;
        };
        Policy: {
            /** @description The rules that apply in this project now. */
            auto_approve: components["schemas"]["PolicyRule"][];
            created_at: string | null;
            created_by: components["schemas"]["NamedActor"] | null;
            /**
             * @description `wedge`: the rules of the wedge's folder apply.
             * @enum {string}
             */
            source: "wedge" | "saved";
            /** @description The newest version; null: none was ever saved. */
            version: number | null;
            /** @description The newest 20 versions, newest first. */
            versions: {
                /** Format: date-time */
                created_at: string;
                created_by: components["schemas"]["NamedActor"] | null;
                /** @description Null for the rules of the wedge's folder. */
                rule_count: number | null;
                /**
                 * @description `wedge`: the rules of the wedge's folder apply.
                 * @enum {string}
                 */
                source: "wedge" | "saved";
                version: number;
            }[];
        };
        PolicyRule: {
            action: string;
            max_amount_usd?: number;
            max_per_day?: number;
            max_per_task?: number;
        };
        PolicySimulation: {
            checked: number;
            results: {
                action: string;
                approval_id: string;
                /** Format: date-time */
                created_at: string;
                reason: string;
                /** @enum {string} */
                status: "pending" | "auto_approved" | "approved" | "rejected" | "expired";
                text: string | null;
                /** @enum {string} */
                would: "pass" | "gate";
            }[];
            would_gate: number;
            would_pass: number;
        };
        PortalApproval: {
            amount: {
                /** @description ISO 4217, in upper case. */
                currency: string | null;
                /** @description The field of the payload that states the amount. */
                path: string;
                /** @description In the language of the brand, such as "$50.00". */
                text: string;
                /** @description In major units: 50 is $50.00. */
                value: number;
            } | null;
            /** Format: date-time */
            created_at: string;
            decided_at: string | null;
            expires_at: string | null;
            id: string;
            /** @description What will be sent. */
            payload: unknown;
            payload_sha256: string;
            /** @description The client's own reason for a rejection. */
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired";
            task_id: string;
            thread_id: string | null;
            /** @description What the client is asked, in the language of the brand, such as "Please confirm: create a refund ($50.00)". */
            title: string;
            /** @description What the client decided. `approved` and still `pending`: other people must approve too. */
            your_decision: ("approved" | "rejected") | null;
        };
        PortalApprovalList: {
            data: components["schemas"]["PortalApproval"][];
            next_cursor: string | null;
        };
        PortalCase: {
            closed_at: string | null;
            /** Format: date-time */
            created_at: string;
            id: string;
            stage: string;
            status: string;
            title: string | null;
            /** Format: date-time */
            updated_at: string;
        };
        PortalCaseList: {
            data: components["schemas"]["PortalCase"][];
            next_cursor: string | null;
        };
        PortalClient: {
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            handles: string[];
            id: string;
        };
        PortalConnection: {
            id: string;
            name: string;
            /** @enum {string} */
            status: "connected" | "needs_authorisation";
        };
        PortalConnectionList: {
            data: components["schemas"]["PortalConnection"][];
            next_cursor: string | null;
        };
        PortalDecision: {
            /**
             * @description `pending`: other people must approve as well.
             * @enum {string}
             */
            decision: "approved" | "rejected" | "pending";
            /** @constant */
            ok: true;
        };
        PortalMe: {
            brand: components["schemas"]["PublicBrand"];
            can_start_conversation: boolean;
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            handles: string[];
            id: string;
            /** @description The largest file that can be uploaded. */
            max_file_bytes: number;
            /** @description Whether the client gets mails about answers; null: there are no such mails. */
            notices: boolean | null;
        };
        PortalMessage: {
            /** @description The name of the team member who wrote it; null: the message is not from a member. */
            author: string | null;
            body: string;
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            files: components["schemas"]["File"][];
            from: components["schemas"]["MessageSender"] | null;
            id: string;
            subject: string | null;
            task_id: string | null;
        };
        PortalQuestion: {
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            id: string;
            /** @description The possible answers; null: there is no list. */
            options: string[] | null;
            question: string;
            /** @description The JSON Schema of the answer; null: the answer is text. */
            schema: JsonObject | null;
            task_id: string;
            thread_id: string | null;
        };
        PortalQuestionList: {
            data: components["schemas"]["PortalQuestion"][];
            next_cursor: string | null;
        };
        PortalThread: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description The newest message, cut after 200 characters; null if the client may not read it. */
            last_message: {
                body: string;
                /** Format: date-time */
                created_at: string;
                /** @enum {string} */
                direction: "inbound" | "outbound";
            } | null;
            messages: components["schemas"]["PortalMessage"][];
            /** @enum {string} */
            status: "open" | "closed";
            subject: string | null;
            /** @description Whether there is an answer that the client has not opened. */
            unread: boolean;
            /** Format: date-time */
            updated_at: string;
        };
        PortalThreadSummary: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description The newest message, cut after 200 characters; null if the client may not read it. */
            last_message: {
                body: string;
                /** Format: date-time */
                created_at: string;
                /** @enum {string} */
                direction: "inbound" | "outbound";
            } | null;
            /** @enum {string} */
            status: "open" | "closed";
            subject: string | null;
            /** @description Whether there is an answer that the client has not opened. */
            unread: boolean;
            /** Format: date-time */
            updated_at: string;
        };
        PortalThreadSummaryList: {
            data: components["schemas"]["PortalThreadSummary"][];
            next_cursor: string | null;
        };
        Preset: {
            auth: {
                type: string;
            };
            description: string;
            docs: string;
            /** @enum {string} */
            kind: "custom" | "email";
            operations: {
                /** @enum {string} */
                class: "read" | "ask" | "off";
                description: string;
                /** @description Any JSON object. */
                input_schema: JsonObject;
                name: string;
            }[];
            params: {
                default: string | number | null;
                description: string;
                example: string | number;
                name: string;
                pattern: string | null;
                title: string;
                /** @enum {string} */
                type: "string" | "number";
            }[];
            preset: string;
            secret: {
                label: string;
                where: string;
            };
            title: string;
        };
        PresetList: {
            data: components["schemas"]["Preset"][];
        };
        ProgressEvent: {
            data: {
                /** @description With `model_switched`: the model that the run now uses. */
                model?: string;
                /** @description Only in the stream of a client: the question to the client that was asked or decided. */
                question_id?: string;
                /**
                 * @description The run left its process, continues in another one, or continues with another model; or a step needs no approval, because the reply after it needs one.
                 * @enum {string}
                 */
                state?: "parked" | "resumed" | "model_switched" | "approval_left_out";
                text: string;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "progress";
        };
        Project: {
            /** Format: date-time */
            created_at: string;
            id: string;
            name: string;
            slug: string;
            tier: string;
            /** @description The enabled wedges; null means all, including future ones. */
            wedges: string[] | null;
        };
        /** @description A hint that a task, approval, case or thread changed its status. */
        ProjectChange: {
            /** Format: date-time */
            at: string;
            id: string;
            /** @enum {string} */
            kind: "task" | "approval" | "case" | "thread";
            status: string;
        };
        ProjectDetail: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description The limit of `SVC_MAX_PROJECT_MB`; null: none. */
            max_stored_bytes: number | null;
            name: string;
            slug: string;
            /** @description Records, files and events. Those of a running task are counted when it ends, or after every 10,000 events. */
            stored_bytes: number;
            tier: string;
            /** @description The enabled wedges; null means all, including future ones. */
            wedges: string[] | null;
        };
        ProjectList: {
            data: components["schemas"]["Project"][];
            next_cursor: string | null;
        };
        ProvisionBlueprintResponse: {
            blueprint: string;
            created: components["schemas"]["BlueprintParts"];
            readiness: components["schemas"]["Readiness"];
            reused: components["schemas"]["BlueprintParts"];
        };
        PublicBrand: {
            /** @description The name of the project in public addresses. */
            address: string | null;
            /** @description Whether clients can ask for a sign-in link by mail. */
            can_mail_links: boolean;
            color: string | null;
            /** @description The path of the image on this server; null: there is none. */
            favicon_url: string | null;
            /** @enum {string} */
            language: "en" | "de" | "fr" | "es";
            /** @description The path of the image on this server; null: there is none. */
            logo_url: string | null;
            name: string | null;
            welcome: string | null;
        };
        Readiness: {
            items: components["schemas"]["ReadinessItem"][];
            ready: boolean;
            /** @description Problems that no request can fix and that affect its tasks. */
            warnings: string[];
        };
        ReadinessItem: {
            detail: string;
            /** @description The request that fixes the item, or null if no request can. Values in <angle brackets> are yours to fill in. */
            fix: {
                body: JsonObject | null;
                /** @enum {string} */
                method: "GET" | "POST" | "PUT";
                path: string;
            } | null;
            item: string;
            /** @enum {string} */
            kind: "wedge" | "provision" | "connection" | "config" | "secret" | "authorisation" | "schedule" | "model";
            ok: boolean;
        };
        ReadPortalThreadResponse: {
            /** @constant */
            ok: true;
        };
        ReadVisitorMessagesRequest: {
            /**
             * @description Only messages after this position.
             * @default 0
             */
            after: number;
            /**
             * @description Whether the visitor sees the messages now.
             * @default false
             */
            is_open: boolean;
            /** @description The key that the page made for this visitor. It gives access to the conversation. */
            visitor: string;
        };
        ReceiveHookResponse: {
            client_id?: string;
            /** @constant */
            ok: true;
            /** @description Null if no task starts, because a person has the conversation. */
            task_id?: string | null;
            thread_id?: string;
        };
        ReceiveMessageRequest: {
            body: string;
            external_id?: string | null;
            /** @description Ids of files that were uploaded before. */
            files?: string[];
            from: {
                handle: string;
                name?: string | null;
            };
            subject?: string | null;
        };
        ReceiveMessageResponse: {
            client_id: string;
            /** @description Null if no task starts, because a person has the conversation. */
            task_id: string | null;
            thread_id: string;
        };
        Record: {
            collection: string;
            /** Format: date-time */
            created_at: string;
            id: string;
            key: string;
            project_id: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Any JSON value. */
            value: Json;
            version: number;
            wedge: string;
        };
        RecordList: {
            data: components["schemas"]["Record"][];
            next_cursor: string | null;
        };
        RefreshConnectionToolsResponse: {
            data: components["schemas"]["ConnectionTool"][];
            /** @description How many tools are ignored: their name, size or number is not acceptable. */
            skipped: number;
        };
        RegisterMcpAppError400: {
            error: string;
            error_description?: string;
        };
        /** @description Any JSON object. */
        RegisterMcpAppRequest: JsonObject;
        RejectApprovalRequest: {
            reason?: string;
        };
        RejectPortalApprovalRequest: {
            reason?: string;
        };
        RequestPortalLinkRequest: {
            email: string;
            project?: string;
            /** @description The link opens this conversation. Left out if it is not one of the client. */
            thread?: string;
        };
        ReviseApprovalRequest: {
            note: string;
        };
        RevokeMcpTokenError400: {
            error: string;
            error_description?: string;
        };
        RevokeMcpTokenResponse: Record<string, never>;
        RevokePortalAccessResponse: {
            /** @constant */
            ok: true;
        };
        RuleSuggestion: {
            /** @description What people approved unchanged with an amount above the limit, and the lowest of these amounts. The limit is usual: at most twice the median. */
            above_limit: {
                count: number;
                lowest: number | null;
                /** @description The ids of up to 5 of these approvals. */
                sample: string[];
            };
            /** @description All rules with the suggested one, to save with `PUT /v1/wedges/:wedge/policy`. */
            auto_approve: components["schemas"]["PolicyRule"][];
            /** @description The requests of this action that a person rejected, sent back or edited. */
            not_covered: {
                count: number;
                /** @description The ids of up to 5 of these approvals. */
                sample: string[];
            };
            rule: components["schemas"]["PolicyRule"];
            /** @description The rule in words. */
            text: string;
            /** @description What people approved unchanged and the rule would have approved. */
            would_pass: {
                count: number;
                /** Format: date-time */
                first_at: string;
                /** Format: date-time */
                last_at: string;
                /** @description The ids of up to 5 of these approvals. */
                sample: string[];
                sum: {
                    amount: number;
                    /** @constant */
                    currency: "USD";
                } | null;
                /** @description Expired requests that the rule would have approved as well. */
                undecided: number;
            };
            /**
             * @description Requests that a person rejected, sent back or edited and that the rule covers.
             * @constant
             */
            would_pass_wrongly: 0;
        };
        SaveRecordRequest: {
            collection: string;
            key: string;
            /** @description Any JSON value. */
            value: Json;
            /** @description The version to replace, 0 if the record must be new. 409 if it differs. */
            version?: number;
            wedge: string;
        };
        Schedule: {
            cadence: {
                /** @constant */
                kind: "every";
                seconds: number;
            } | {
                hour: number;
                /** @constant */
                kind: "daily";
                minute: number;
            } | {
                day: number;
                hour: number;
                /** @constant */
                kind: "monthly";
                minute: number;
            } | {
                /**
                 * @description Five cron fields: minute, hour, day, month, weekday.
                 * @example 30 9 * * 1-5
                 */
                expr: string;
                /** @constant */
                kind: "cron";
                /**
                 * @description An IANA time zone.
                 * @example Europe/Berlin
                 */
                tz: string;
            };
            case_id: string | null;
            client_id: string | null;
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            id: string;
            /** @description Any JSON value. */
            input: Json;
            /** @description Why the last due time started no task. */
            last_error: string | null;
            last_run_at: string | null;
            last_task_id: string | null;
            name: string;
            next_run_at: string | null;
            project_id: string;
            task_type: string;
            /** Format: date-time */
            updated_at: string;
            wedge: string;
        };
        ScheduleList: {
            data: components["schemas"]["Schedule"][];
            next_cursor: string | null;
        };
        SendMcpMessageRequest: {
            /** @description Any JSON object. */
            error?: JsonObject;
            /** @description Absent in a notification. */
            id?: string | number;
            /** @constant */
            jsonrpc: "2.0";
            /** @description Absent in the answer to a form. */
            method?: string;
            /** @description Any JSON object. */
            params?: JsonObject;
            /** @description Any JSON object. */
            result?: JsonObject;
        };
        SendMcpMessageResponse: {
            error?: {
                code: number;
                /** @description Any JSON value. */
                data?: Json;
                message: string;
            };
            id?: string | number;
            /** @constant */
            jsonrpc: "2.0";
            /** @description Any JSON value. */
            result?: Json;
        };
        Session: {
            key: components["schemas"]["Key"] | null;
            member: components["schemas"]["Member"] | null;
            organisation: components["schemas"]["Organisation"];
            projects: components["schemas"]["Project"][];
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        SetChannelSecretRequest: {
            value: string;
        };
        SetConnectionSecretRequest: {
            value: string;
        };
        SetNotifierRequest: {
            /** @description The name of a connection. */
            connection: string;
        };
        SetNotifierSecretRequest: {
            value: string;
        };
        SetPortalNoticesRequest: {
            enabled: boolean;
        };
        SetPortalNoticesResponse: {
            /** @constant */
            ok: true;
        };
        SignInRequest: {
            email: string;
            password: string;
        };
        SignInResult: {
            /** Format: date-time */
            expires_at: string;
            member: components["schemas"]["Member"];
            organisation: components["schemas"]["Organisation"];
            projects: components["schemas"]["Project"][];
            session_token: string;
        };
        SignUpRequest: {
            email: string;
            name?: string;
            organisation?: string;
            password: string;
        };
        SignupState: {
            /** @description False until the first sign-up, which needs the founder key. */
            has_owner: boolean;
            /** @description Whether anyone can sign up (`SVC_OPEN_SIGNUP`). */
            open: boolean;
        };
        SimulatePolicyRequest: {
            auto_approve: {
                action: string;
                max_amount_usd?: number;
                max_per_day?: number;
                max_per_task?: number;
            }[];
            /** @default 1000 */
            limit: number;
        };
        SkillFolder: {
            /** @description The instructions: `SKILL.md` without its front matter. */
            content: string;
            /** @description What an agent knows of the skill before it reads its files. */
            description: string;
            files: {
                path: string;
                size: number;
            }[];
            name: string;
        };
        Span: {
            /** @description Any JSON value. */
            attributes: Json;
            children: components["schemas"]["Span"][];
            duration_ms: number | null;
            ended_at: string | null;
            /** @enum {string} */
            kind: "task" | "step" | "tool" | "model" | "approval";
            name: string;
            parent_id: string | null;
            span_id: string;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            status: "running" | "ok" | "failed";
        };
        StartConnectionOauthRequest: {
            return_to?: string;
        };
        StartedNotificationLink: {
            /** @description Send it to the bot from the account that is to be linked. */
            code?: string;
            /** Format: date-time */
            expires_at: string;
            /** @description The address that got a mail with a link to confirm it. */
            sent_to?: string;
            /** @description An address that sends the code. */
            url?: string;
        };
        StepStartedEvent: {
            data: {
                /** @description Any JSON value. */
                label: Json;
                /** @description Any JSON value. */
                step: Json;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.started";
        };
        Suggestions: {
            /** @description How many requests were read. */
            checked: number;
            /** @description There are older approved or expired requests that were not read. */
            is_capped: boolean;
            /** @description The version that the suggestions would change: `based_on` of the next save. */
            policy_version: number | null;
            /** @description Actions that people keep approving and for which no rule is suggested. */
            refused: {
                action: string;
                reason: string;
            }[];
            suggestions: components["schemas"]["RuleSuggestion"][];
        };
        Task: {
            /** @description Any JSON value. */
            actor: Json;
            artifacts: components["schemas"]["Artifact"][];
            case_id: string | null;
            channel_id: string | null;
            client_id: string | null;
            constraints: {
                approval_required: boolean;
                max_cost_usd: number;
                max_runtime_s: number;
            };
            cost_usd: number;
            /** Format: date-time */
            created_at: string;
            error: {
                message: string;
                reason: string;
            } | null;
            /** @description The files that the task was given. */
            files: components["schemas"]["File"][];
            finished_at: string | null;
            id: string;
            /** @description Any JSON value. */
            input: Json;
            last_event_id: number;
            /** @description When retention removed its events and files. */
            log_pruned_at: string | null;
            /** @description Any JSON value. */
            output: Json;
            output_schema: JsonObject | null;
            project_id: string;
            /** @description Why a queued task waits, if it is not for a free slot. */
            queue_reason: string | null;
            retry_of: string | null;
            schedule_id: string | null;
            started_at: string | null;
            /** @enum {string} */
            status: "queued" | "provisioning" | "running" | "awaiting_approval" | "succeeded" | "failed" | "rejected" | "expired" | "cancelled";
            task_type: string;
            thread_id: string | null;
            tools: string[];
            waiting_for: components["schemas"]["WaitingFor"] | null;
            wedge: string;
        };
        TaskCreatedEvent: {
            data: {
                model: string;
                sandbox: string;
                /** @constant */
                status: "running";
                task_type: string;
                wedge: string;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.created";
        };
        TaskFeedback: {
            knowledge_id: string | null;
            ok: boolean;
        };
        TaskFinishedEvent: {
            data: {
                duration_ms: number;
                error?: {
                    message: string;
                    reason: string;
                };
                /** @enum {string} */
                status: "succeeded" | "failed" | "rejected" | "expired" | "cancelled";
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.finished";
        };
        TaskList: {
            data: components["schemas"]["Task"][];
            next_cursor: string | null;
        };
        Thread: {
            /** @description Null if the channel was deleted. */
            channel: {
                adapter: string | null;
                address: string;
                id: string;
            } | null;
            channel_id: string;
            client_id: string;
            client_name: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Who has taken the conversation over from the agent. */
            held_by: components["schemas"]["NamedActor"] | null;
            id: string;
            /** @description The newest message, with the first 200 characters of its text. */
            last_message: {
                /** Format: date-time */
                at: string;
                body: string;
                /** @enum {string} */
                direction: "inbound" | "outbound";
                from: components["schemas"]["MessageSender"] | null;
            } | null;
            message_count: number;
            messages: components["schemas"]["Message"][];
            /** @description The approvals of the thread that wait for the team. */
            pending: string[];
            project_id: string;
            /** @enum {string} */
            status: "open" | "closed";
            subject: string | null;
            /** @description The newest 50 tasks of the thread, newest first. */
            tasks: components["schemas"]["ThreadTask"][];
            /** @description Since when the client waits for an answer that no run will give, and why. */
            unanswered: {
                reason: string;
                since: string;
                task_id: string | null;
            } | null;
            /** @description Messages of the client that the team has not read. */
            unread: number;
            /** Format: date-time */
            updated_at: string;
        };
        ThreadSummary: {
            /** @description Null if the channel was deleted. */
            channel: {
                adapter: string | null;
                address: string;
                id: string;
            } | null;
            channel_id: string;
            client_id: string;
            client_name: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Who has taken the conversation over from the agent. */
            held_by: components["schemas"]["NamedActor"] | null;
            id: string;
            /** @description The newest message, with the first 200 characters of its text. */
            last_message: {
                /** Format: date-time */
                at: string;
                body: string;
                /** @enum {string} */
                direction: "inbound" | "outbound";
                from: components["schemas"]["MessageSender"] | null;
            } | null;
            message_count: number;
            project_id: string;
            /** @enum {string} */
            status: "open" | "closed";
            subject: string | null;
            /** @description Since when the client waits for an answer that no run will give, and why. */
            unanswered: {
                reason: string;
                since: string;
                task_id: string | null;
            } | null;
            /** @description Messages of the client that the team has not read. */
            unread: number;
            /** Format: date-time */
            updated_at: string;
        };
        ThreadSummaryList: {
            data: components["schemas"]["ThreadSummary"][];
            next_cursor: string | null;
        };
        ThreadTask: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @enum {string} */
            status: "queued" | "provisioning" | "running" | "awaiting_approval" | "succeeded" | "failed" | "rejected" | "expired" | "cancelled";
            task_type: string;
        };
        TokenDeltaEvent: {
            data: {
                text: string;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "token.delta";
        };
        ToolCalledEvent: {
            data: {
                call_id: string;
                /** @description Any JSON value. */
                input: Json;
                tool: string;
                /** @constant */
                truncated?: true;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.called";
        };
        Toolkit: {
            description: string | null;
            name: string;
            slug: string;
        };
        ToolkitList: {
            data: components["schemas"]["Toolkit"][];
            next_cursor: string | null;
        };
        ToolResultEvent: {
            data: {
                call_id: string;
                /** @description Any JSON value. */
                error?: Json;
                ok: boolean;
                /** @description Any JSON value. */
                output?: Json;
                tool: string;
                /** @constant */
                truncated?: true;
            };
            /** @description The same as `seq`. */
            id: number;
            /** @description Counts from 1 in each task, without gaps. */
            seq: number;
            task_id: string;
            /** Format: date-time */
            ts: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.result";
        };
        Trace: {
            log_pruned_at: string | null;
            /** @description Null before the run starts and after its events were pruned. */
            root: components["schemas"]["Span"] | null;
            status: string;
            task_id: string;
        };
        UnsubscribeClientResponse: {
            found: boolean;
            /** @constant */
            ok: true;
        };
        UpdateApprovalRequest: {
            /** @description The id or mail address of a member who may decide, or `me`; null: no member. */
            assignee: string | null;
        };
        UpdateBrandRequest: {
            color?: string | null;
            favicon_file_id?: string | null;
            /** @enum {string} */
            language?: "en" | "de" | "fr" | "es";
            logo_file_id?: string | null;
            mail_connection_id?: string | null;
            name?: string | null;
            notify?: boolean;
            portal_channel_id?: string | null;
            welcome?: string | null;
        };
        UpdateCaseRequest: {
            assignee_id?: string | null;
            /** @description Any JSON object. */
            data?: JsonObject;
            note?: string;
            stage?: string;
            /** @enum {string} */
            status?: "open" | "closed";
            thread_id?: string | null;
            title?: string | null;
        };
        UpdateChannelRequest: {
            /** @description The service that carries the messages; null: `/inbound` only. */
            adapter?: string | null;
            address?: string;
            /** @description In the form of the adapter. */
            config?: {
                [key: string]: unknown;
            };
            connection_id?: string;
            /** @description How long the task of a message waits for more messages, which then become part of it. */
            settle_s?: number;
            task_type?: string;
            wedge?: string;
        };
        UpdateClientRequest: {
            display_name?: string | null;
            handles?: string[];
            /** @description Any JSON object. */
            metadata?: JsonObject;
        };
        UpdateConnectionRequest: {
            /** @description The address and other settings of its kind. A custom connection may have `base_url` and `operations: [{name, description?, method, path, query?, headers?, body?, input_schema?, read?, idempotency_header?, success?, amount?}]`. */
            config?: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            kind?: "email" | "webhook" | "custom" | "broker" | "mcp";
            name?: string;
            secret_ref?: string | null;
        };
        UpdateConnectionToolRequest: {
            /** @enum {string} */
            class: "read" | "ask" | "off";
            /** @description The version that you saw; another one is a 409. */
            hash?: string;
        };
        UpdateKnowledgeRequest: {
            content?: string;
            /** @enum {string} */
            kind?: "note" | "fact" | "correction" | "feedback" | "answer" | "seed";
            /** @description Any JSON object. */
            metadata?: JsonObject;
            name?: string;
            source?: string | null;
        };
        UpdateMemberRequest: {
            name?: string | null;
            /** @enum {string} */
            role?: "viewer" | "operator" | "admin" | "owner";
        };
        UpdateMyNotificationsRequest: {
            settings: components["schemas"]["NotificationSettings"] | null;
        };
        UpdatePolicyRequest: {
            auto_approve: {
                action: string;
                max_amount_usd?: number;
                max_per_day?: number;
                max_per_task?: number;
            }[];
            /** @description The `version` that the caller has read; 409 if there is a newer one. */
            based_on?: number | null;
        };
        UpdateProjectRequest: {
            name?: string;
            tier?: string;
            wedges?: string[] | null;
        };
        UpdateScheduleRequest: {
            cadence?: {
                /** @constant */
                kind: "every";
                seconds: number;
            } | {
                hour: number;
                /** @constant */
                kind: "daily";
                minute: number;
            } | {
                day: number;
                hour: number;
                /** @constant */
                kind: "monthly";
                minute: number;
            } | {
                /**
                 * @description Five cron fields: minute, hour, day, month, weekday.
                 * @example 30 9 * * 1-5
                 */
                expr: string;
                /** @constant */
                kind: "cron";
                /**
                 * @description An IANA time zone.
                 * @example Europe/Berlin
                 */
                tz: string;
            };
            case_id?: string | null;
            client_id?: string | null;
            enabled?: boolean;
            /** @description Any JSON value. */
            input?: Json;
            name?: string;
            task_type?: string;
            wedge?: string;
        };
        UpdateThreadRequest: {
            /** @description `"me"`: the caller takes the conversation over from the agent; null: gives it back. */
            held_by?: "me" | null;
            /**
             * @description The team has read every message.
             * @constant
             */
            read?: true;
            /**
             * @description `closed` also cancels the tasks that wait for their run, and withdraws what waits for an approval.
             * @enum {string}
             */
            status?: "open" | "closed";
            /**
             * @description Dismisses the mark that the client waits.
             * @constant
             */
            unanswered?: false;
        };
        UpdateWebhookRequest: {
            enabled?: boolean;
            events?: ("approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed")[];
            url?: string;
        };
        VisitorConversation: {
            /** @description Whether an agent works on an answer. */
            is_working: boolean;
            messages: components["schemas"]["VisitorMessage"][];
            /** @description The position of the last message that the visitor has seen. */
            read_count: number;
            /** @description Null before the first message. */
            thread_id: string | null;
        };
        VisitorMessage: {
            body: string;
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            from: "visitor" | "team";
            id: string;
            /** @description The position in the conversation. */
            n: number;
        };
        /** @description The approval needs the approval of more people. */
        Vote: {
            /** @constant */
            decision: "pending";
            needed: number;
            /** @constant */
            ok: true;
            votes: components["schemas"]["ApprovalVote"][];
        };
        /** @description What a queued task waits for, if it is not a free slot. `thread`: the end of an earlier task of its conversation; `capacity`: a decision, because too many runs of the project wait for one; `runner`: a replica that takes the task. */
        WaitingFor: {
            /** @description The thread that the task waits for. */
            id?: string;
            /** @enum {string} */
            kind: "thread" | "capacity" | "runner";
        };
        Webhook: {
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            events: ("approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed")[];
            id: string;
            /** @description Until when the previous secret signs as well. */
            previous_secret_until: string | null;
            project_id: string;
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
        WebhookDelivery: {
            attempts: number;
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
            /** @enum {string} */
            event: "approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed";
            /** @description The `webhook-id` header of every attempt. */
            id: string;
            last_error: string | null;
            last_status: number | null;
            next_at: string | null;
            payload: {
                /** Format: date-time */
                created_at: string;
                data: {
                    id: string;
                };
                id: string;
                /** @enum {string} */
                type: "approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed";
            };
            project_id: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            webhook_id: string;
        };
        WebhookDeliveryList: {
            data: components["schemas"]["WebhookDelivery"][];
            next_cursor: string | null;
        };
        WebhookList: {
            data: components["schemas"]["Webhook"][];
            next_cursor: string | null;
        };
        WebhookWithSecret: {
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            events: ("approval.requested" | "approval.expiring" | "task.finished" | "connection.failing" | "connection.tools_changed" | "schedule.failed")[];
            id: string;
            /** @description Until when the previous secret signs as well. */
            previous_secret_until: string | null;
            project_id: string;
            /** @description `whsec_…`, shown only here. */
            secret: string;
            /** Format: date-time */
            updated_at: string;
            url: string;
        };
        Wedge: {
            /** @description Valid, and enabled in at least one project in scope. */
            enabled: boolean;
            knowledge: {
                authored: components["schemas"]["NamedText"][];
                /** @description The newest 200. */
                live: components["schemas"]["Knowledge"][];
            };
            /** @description As the author wrote it; empty if it is not valid. */
            manifest: {
                [key: string]: unknown;
            };
            problems: {
                file: string;
                line: number;
                message: string;
            }[];
            /** @description Skills as folders (`skills/<name>/SKILL.md`), whose files an agent reads when it needs them. */
            skill_folders: components["schemas"]["SkillFolder"][];
            skills: components["schemas"]["NamedText"][];
            /** @description By name. */
            task_types: {
                [key: string]: {
                    /** @description An example input, from `example` or `rehearsals/<type>.input.json` of the wedge; null without one. */
                    example: unknown;
                    input_schema: JsonObject | null;
                };
            };
            title: string;
            wedge: string;
        };
        WedgeSummary: {
            /** @description Valid, and enabled in at least one project in scope. */
            enabled: boolean;
            /** @description As the author wrote it; empty if it is not valid. */
            manifest: {
                [key: string]: unknown;
            };
            problems: {
                file: string;
                line: number;
                message: string;
            }[];
            title: string;
            wedge: string;
        };
        WedgeSummaryList: {
            data: components["schemas"]["WedgeSummary"][];
            next_cursor: string | null;
        };
        Widget: {
            color: string | null;
            /** @enum {string} */
            language: "en" | "de" | "fr" | "es";
            /** @description The path of the image on this server; null: there is none. */
            logo_url: string | null;
            name: string | null;
            /** @description Visitors who leave an address get a mail about answers. */
            notifies: boolean;
            welcome: string | null;
        };
    };
    responses: {
        /** @description A parameter or a field is missing or wrong. */
        BadRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description It clashes with what is there, such as a second decision. */
        Conflict: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The caller's role does not allow this. */
        Forbidden: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description It does not exist, or it is outside of what the credential reaches. */
        NotFound: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A rate limit was reached. */
        TooManyRequests: {
            headers: {
                "retry-after": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The credential is missing, wrong or revoked. */
        Unauthorized: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Any other error. */
        Unexpected: {
            headers: {
                "retry-after": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description A project by id or slug. A member of several projects needs it to write. */
        Project: string;
    };
    requestBodies: never;
    headers: {
        /** @description The path of what was created. */
        Location: string;
        /** @description The request's id in the server's log. */
        RequestId: string;
        /** @description Seconds to wait, on 429 and 503. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
