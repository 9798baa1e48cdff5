use super::*;

fn words() -> Words {
    Words::parse(include_str!("../../../config/guard.toml")).unwrap()
}

fn button(name: &str) -> Case {
    Case {
        deed: "click".into(),
        tag: "button".into(),
        role: "button".into(),
        name: name.into(),
        ..Case::default()
    }
}

fn link(name: &str) -> Case {
    Case { tag: "a".into(), role: "link".into(), ..button(name) }
}

/// The button of a form that posts.
fn submit(name: &str) -> Case {
    Case {
        kind: "submit".into(),
        form_method: "post".into(),
        form_submit: name.into(),
        submits: true,
        ..button(name)
    }
}

/// Enter in a line of a form that posts, whose button says `label`.
fn enter_in_form(label: &str) -> Case {
    Case {
        deed: "press".into(),
        tag: "input".into(),
        role: "textbox".into(),
        name: "Amount".into(),
        payload: "Enter".into(),
        form_method: "post".into(),
        form_submit: label.into(),
        submits: true,
        ..Case::default()
    }
}

const HELD: &[(&str, &[&str])] = &[
    (
        "english",
        &[
            "Send",
            "Send invoice",
            "SEND NOW",
            "Submit",
            "Pay now",
            "Pay $20",
            "Pay20",
            "Buy",
            "Place your order",
            "Delete",
            "Remove",
            "Post",
            "Publish",
            "Apply",
            "Subscribe",
            "Transfer",
            "Merge pull request",
            "Push",
            "Confirm",
            "Sign",
            "Yes, delete the post",
            "Delete order history",
            "Order with obligation to pay",
            "Unsubscribe",
            "Cancel subscription",
            "Send & archive",
            "re-send",
            "S\u{200b}end",
            "Ｓｅｎｄ",
            "ѕеnԁ",
        ],
    ),
    (
        "korean",
        &[
            "보내기",
            "메일 보내기",
            "전송",
            "결제하기",
            "구매하기",
            "주문하기",
            "삭제",
            "게시글 삭제",
            "게시물 게시",
            "제출",
            "지금 구독하기",
            "송금하기",
            "계좌 이체",
            "탈퇴하기",
            "\u{1109}\u{1161}\u{11a8}\u{110c}\u{1166}",
        ],
    ),
    (
        "russian",
        &[
            "Отправить",
            "Отправить сообщение",
            "Оплатить",
            "Купить",
            "Заказать",
            "Оформить заказ",
            "Удалить",
            "Опубликовать",
            "Подписаться",
            "Подписать",
            "Подтвердить",
            "Применить",
            "Перевести",
        ],
    ),
    (
        "german",
        &[
            "Senden",
            "Absenden",
            "Abschicken",
            "Jetzt kaufen",
            "Zahlungspflichtig bestellen",
            "Bezahlen",
            "Löschen",
            "LO\u{308}SCHEN",
            "Veröffentlichen",
            "Überweisen",
            "Kündigen",
            "Bestätigen",
        ],
    ),
    (
        "french",
        &[
            "Envoyer",
            "Payer",
            "Acheter",
            "Commander",
            "Supprimer",
            "Publier",
            "S’abonner",
            "S'abonner",
            "Confirmer",
            "Signer",
            "Transférer",
            "Valider",
        ],
    ),
    (
        "spanish",
        &[
            "Enviar",
            "Pagar ahora",
            "Comprar",
            "Eliminar",
            "Borrar",
            "Publicar",
            "Suscribirse",
            "Transferir",
            "Confirmar",
            "Firmar",
            "Realizar pedido",
            "Aplicar",
        ],
    ),
    (
        "japanese",
        &[
            "送信",
            "送信する",
            "削除",
            "購入する",
            "注文を確定する",
            "投稿する",
            "今すぐ買う",
            "支払う",
            "振込",
            "申し込む",
            "解約する",
            "署名する",
        ],
    ),
    (
        "chinese",
        &[
            "发送",
            "發送",
            "提交",
            "立即支付",
            "立即购买",
            "删除",
            "刪除",
            "发布",
            "订阅",
            "转账",
            "确认",
            "申请",
        ],
    ),
];

const PASSED: &[(&str, &[&str])] = &[
    (
        "english",
        &[
            "Apply filters",
            "Apply filter",
            "Sort by post date",
            "Payment history",
            "Order history",
            "Order #10042",
            "Sender",
            "Shipping",
            "Add to cart",
            "Sign in",
            "Sign out",
            "Orders",
            "Buyers",
            "Postpone",
            "Signature moves",
            "How to send a letter",
            "Blog post",
            "Next post",
            "Merge requests",
            "Push notifications",
            "Order details",
            "Sort order",
            "Track your order",
            "Purchase history",
            "Comments",
            "Sent",
            "Removed items",
            "Next",
            "Details",
            "Cancel",
            "Close",
            "Menu",
            "Remove all filters",
        ],
    ),
    (
        "korean",
        &[
            "주문 내역",
            "주문내역",
            "결제 수단",
            "결제 내역",
            "구매 후기",
            "게시판",
            "게시글",
            "필터 적용",
            "구독자",
            "보낸 사람",
            "배송",
            "장바구니 담기",
            "로그인",
            "확인",
            "다음",
        ],
    ),
    (
        "russian",
        &[
            "Отправитель",
            "Отправленные",
            "История заказов",
            "Способы оплаты",
            "Доставка и оплата",
            "Удалённые",
            "Применить фильтр",
            "Применить фильтры",
            "Войти",
            "Добавить в корзину",
            "Перевести на английский",
            "Далее",
        ],
    ),
    (
        "german",
        &[
            "Absender",
            "Versand",
            "Bestellungen",
            "Filter anwenden",
            "Alle Filter löschen",
            "Einkaufswagen",
            "In den Warenkorb",
            "Kaufberatung",
            "Einloggen",
            "Zahlungsarten",
            "Weiter",
        ],
    ),
    (
        "french",
        &[
            "Expéditeur",
            "Livraison",
            "Historique des commandes",
            "Appliquer les filtres",
            "Effacer les filtres",
            "Ajouter au panier",
            "Se connecter",
            "Comment payer",
            "Suivant",
            "Commandes",
        ],
    ),
    (
        "spanish",
        &[
            "Remitente",
            "Envíos",
            "Historial de pedidos",
            "Aplicar filtros",
            "Borrar filtros",
            "Ordenar por precio",
            "Añadir al carrito",
            "Iniciar sesión",
            "Cómo comprar",
            "Siguiente",
        ],
    ),
    (
        "japanese",
        &[
            "注文履歴",
            "購入履歴",
            "送信者",
            "送信済み",
            "投稿日",
            "支払い方法",
            "フィルターを適用",
            "カートに入れる",
            "ログイン",
            "配送",
            "次へ",
        ],
    ),
    (
        "chinese",
        &[
            "发件人",
            "已发送",
            "支付方式",
            "购买记录",
            "发布日期",
            "我的订阅",
            "加入购物车",
            "登录",
            "应用商店",
            "订单",
            "下一步",
        ],
    ),
];

#[test]
fn what_the_table_holds_is_held_and_what_only_sounds_like_it_passes() {
    let words = words();
    let (mut held, mut passed) = (0, 0);
    for (language, labels) in HELD {
        for label in *labels {
            let judged = classify(&button(label), &words);
            assert_eq!(judged.class, Class::Irreversible, "{language} {label}: {}", judged.why);
            held += 1;
        }
    }
    for (language, labels) in PASSED {
        for label in *labels {
            for case in [button(label), link(label)] {
                let judged = classify(&case, &words);
                assert!(judged.class < Class::Irreversible, "{language} {label}: {}", judged.why);
            }
            passed += 1;
        }
    }
    assert_eq!(HELD.len(), 8);
    assert!(held >= 60 && passed >= 60, "{held} held, {passed} passed");
}

#[test]
fn the_word_is_found_in_every_text_of_the_element() {
    let words = words();
    let plain = Case { texts: vec!["OK".into(), "➤".into()], ..button("OK") };
    assert!(classify(&plain, &words).class < Class::Irreversible);
    let titled = Case { texts: vec!["OK".into(), "Send invoice".into()], ..button("OK") };
    let judged = classify(&titled, &words);
    assert_eq!(judged.class, Class::Irreversible);
    assert_eq!(judged.why, "click target text contains 'send'");
}

#[test]
fn a_form_speaks_for_the_button_that_says_nothing() {
    let words = words();
    let says = |case: &Case| {
        let judged = classify(case, &words);
        (judged.class, judged.why)
    };
    assert_eq!(says(&submit("Go")), (Class::SoftWrite, "click submits a form".into()));
    let icon = Case { form_submit: "Send".into(), ..submit("➤") };
    let why = "click submits a form whose button text contains 'send'";
    assert_eq!(says(&icon), (Class::Irreversible, why.into()));
    let address =
        Case { form_action: "http://mail.localhost/mail/send?x=1".into(), ..submit("OK") };
    let why = "click submits a form whose address contains 'send'";
    assert_eq!(says(&address), (Class::Irreversible, why.into()));
    // The host is a name, and what is read is not done.
    let host = Case { form_action: "http://send.localhost/x".into(), ..submit("OK") };
    assert_eq!(says(&host).0, Class::SoftWrite);
    let get = Case { form_method: "get".into(), ..address };
    assert_eq!(says(&get).0, Class::SoftWrite);

    assert_eq!(says(&submit("Sign in")).0, Class::SoftWrite);
    assert_eq!(says(&submit("Add to cart")).0, Class::SoftWrite);
    assert_eq!(says(&submit("Sign up")).0, Class::Irreversible);
    assert_eq!(says(&link("Sign up")).0, Class::Read);
    assert_eq!(says(&submit("확인")).0, Class::Irreversible);
}

#[test]
fn searches_pass_and_what_only_calls_itself_a_search_does_not() {
    let words = words();
    let search = |name: &str| Case { form_method: "get".into(), search: true, ..submit(name) };
    for name in ["Search", "Submit", "Apply", "Go", "검색", "Найти"] {
        assert_eq!(classify(&search(name), &words).class, Class::Read, "{name}");
    }
    for name in ["Pay now", "Delete", "결제하기"] {
        assert_eq!(classify(&search(name), &words).class, Class::Irreversible, "{name}");
    }
    let posts = Case { form_method: "post".into(), ..search("Submit") };
    assert_eq!(classify(&posts, &words).class, Class::Irreversible);
    let enter = Case { form_method: "get".into(), search: true, ..enter_in_form("Submit") };
    assert_eq!(classify(&enter, &words).class, Class::Read);
    let message = Case { name: "Search messages".into(), ..enter };
    assert_eq!(classify(&message, &words).class, Class::Read);
}

#[test]
fn keys_are_classed_by_what_they_set_off() {
    let words = words();
    let says = |case: Case| {
        let judged = classify(&case, &words);
        (judged.class, judged.why)
    };
    let press = |key: &str, case: Case| Case { deed: "press".into(), payload: key.into(), ..case };
    let compose = || Case { role: "textbox".into(), compose: true, ..Case::default() };
    let line = || Case { role: "textbox".into(), tag: "input".into(), ..Case::default() };

    let why = "Enter submits a form whose button text contains 'pay'";
    assert_eq!(says(enter_in_form("Pay")), (Class::Irreversible, why.into()));
    assert_eq!(says(enter_in_form("Go")).0, Class::SoftWrite);
    assert_eq!(says(enter_in_form("")).0, Class::SoftWrite);
    assert_eq!(says(enter_in_form("Sign in")).0, Class::SoftWrite);
    let filled = Case { deed: "fill".into(), payload: "20".into(), ..enter_in_form("Pay") };
    assert_eq!(says(filled).0, Class::Irreversible);

    let why = "Enter in a field that composes a message";
    assert_eq!(says(press("Enter", compose())), (Class::Irreversible, why.into()));
    let named = Case { name: "Write a message".into(), ..line() };
    assert_eq!(says(press("Enter", named)), (Class::Irreversible, why.into()));
    for chord in ["Control+Enter", "Meta+Enter"] {
        assert_eq!(says(press(chord, compose())).0, Class::Irreversible, "{chord}");
        assert_eq!(says(press(chord, line())).0, Class::Irreversible, "{chord}");
    }
    assert_eq!(says(press("Shift+Enter", compose())).0, Class::SoftWrite);
    assert_eq!(says(press("Enter", line())).0, Class::SoftWrite);

    for key in ["Enter", "Space"] {
        let (class, why) = says(press(key, button("Send")));
        assert_eq!(class, Class::Irreversible);
        assert_eq!(why, format!("press {key} on target text contains 'send'"));
        assert_eq!(says(press(key, link("Order history"))).0, Class::Read);
    }
    assert_eq!(says(press("Space", compose())).0, Class::SoftWrite);
    assert_eq!(says(press("a", line())).0, Class::SoftWrite);
    assert_eq!(says(press("Tab", compose())).0, Class::Read);
    assert_eq!(says(press("ArrowDown", button("Send"))).0, Class::Read);
    assert_eq!(says(press("Delete", line())).0, Class::SoftWrite);
    assert_eq!(says(press("Delete", link("Old mail"))).0, Class::Irreversible);
    assert_eq!(says(press("Entr", line())).0, Class::Irreversible);
}

#[test]
fn states_and_fields_are_not_held_for_their_names() {
    let words = words();
    let role =
        |role: &str, name: &str| Case { role: role.into(), tag: "input".into(), ..button(name) };
    for (case, class) in [
        (role("checkbox", "Subscribe to the newsletter"), Class::SoftWrite),
        (role("radio", "Pay by card"), Class::SoftWrite),
        (role("option", "Delete"), Class::SoftWrite),
        (role("textbox", "Send to"), Class::Read),
        (role("searchbox", "Search orders to delete"), Class::Read),
        (role("tab", "Send"), Class::Read),
        (Case { submits: true, ..role("checkbox", "Delete everything") }, Class::Irreversible),
    ] {
        assert_eq!(classify(&case, &words).class, class, "{} {}", case.role, case.name);
    }
}

#[test]
fn a_headline_is_no_button() {
    let words = words();
    let class = |case: Case| classify(&case, &words).class;
    assert_eq!(class(link("Ask: would you ever delete your whole mailbox?")), Class::Read);
    assert_eq!(class(link("Delete all messages older than thirty days now")), Class::Irreversible);
    assert_eq!(class(link("Yes, delete it")), Class::Irreversible);
    let long = button("Ask: would you ever delete your whole mailbox?");
    assert_eq!(class(long), Class::Irreversible);
}

#[test]
fn what_is_not_a_click_has_its_own_class() {
    let words = words();
    let class = |deed: &str, payload: &str| {
        let case = Case { deed: deed.into(), payload: payload.into(), ..Case::default() };
        classify(&case, &words).class
    };
    assert_eq!(class("navigate", "http://shop.localhost/delete"), Class::Read);
    assert_eq!(class("navigate", " JavaScript:document.forms[0].submit()"), Class::Irreversible);
    assert_eq!(class("navigate", "javascript:1"), Class::SoftWrite);
    assert_eq!(class("evaluate", "document.title"), Class::Read);
    assert_eq!(class("evaluate", "document.forms[0].submit()"), Class::Irreversible);
    assert_eq!(class("fill", "Send it all"), Class::SoftWrite);
    assert_eq!(class("scroll", ""), Class::Read);
    assert_eq!(class("teleport", ""), Class::Irreversible);
}

#[test]
fn the_table_has_no_friend_that_hides_a_verb_of_its_own() {
    // Each verb alone on a button is held, so no friend swallows it whole.
    let words = words();
    let table: toml::Table = include_str!("../../../config/guard.toml").parse().unwrap();
    let mut looked_at = 0;
    for (language, lists) in table["language"].as_table().unwrap() {
        for verb in lists["irreversible"].as_array().unwrap() {
            let verb = verb.as_str().unwrap().trim_end_matches('*').replace(" * ", " this ");
            let judged = classify(&button(&verb), &words);
            assert_eq!(judged.class, Class::Irreversible, "{language}: {verb}");
            looked_at += 1;
        }
    }
    assert!(looked_at > 200, "{looked_at}");
}

#[test]
fn choosing_in_a_select_that_submits_is_judged_as_its_form_is() {
    let words = words();
    let select = |payload: &str, method: &str, label: &str, submits: bool| Case {
        deed: "select".into(),
        tag: "select".into(),
        role: "combobox".into(),
        name: "Folder".into(),
        form_method: method.into(),
        form_submit: label.into(),
        submits,
        payload: payload.into(),
        ..Case::default()
    };
    for (case, class) in [
        (select("Delete", "post", "", false), Class::SoftWrite),
        (select("Delete", "post", "", true), Class::Irreversible),
        (select("Archive", "post", "", true), Class::SoftWrite),
        (select("Archive", "post", "Send", true), Class::Irreversible),
        (select("Post date", "get", "", true), Class::SoftWrite),
    ] {
        let filled = Case { deed: "fill".into(), ..case.clone() };
        for case in [&case, &filled] {
            assert_eq!(classify(case, &words).class, class, "{case:?}");
        }
        let key = |chord: &str| {
            let (deed, payload) = ("press".into(), chord.into());
            classify(&Case { deed, payload, ..case.clone() }, &words).class
        };
        // What a key would choose is not known: the form alone is.
        let by_form = case.submits && case.form_submit == "Send";
        assert_eq!(key("ArrowDown") == Class::Irreversible, by_form, "{case:?}");
        assert_eq!(key("Tab"), Class::Read, "{case:?}");
    }
}

#[test]
fn a_fill_with_enter_is_judged_by_what_enter_does() {
    let words = words();
    let filled = |case: Case| {
        let judged =
            classify(&Case { deed: "fill_and_enter".into(), payload: "x".into(), ..case }, &words);
        judged.class
    };
    assert_eq!(filled(enter_in_form("Send")), Class::Irreversible);
    assert_eq!(filled(enter_in_form("Continue")), Class::SoftWrite);
    let search = Case { search: true, form_method: "get".into(), ..enter_in_form("Submit") };
    assert_eq!(filled(search), Class::SoftWrite, "it changes the field at least");
    let compose = Case { compose: true, submits: false, ..enter_in_form("") };
    assert_eq!(filled(compose), Class::Irreversible);
}

#[test]
fn a_question_is_judged_by_what_ok_says_yes_to() {
    let words = words();
    let asks = |message: &str| {
        let (deed, name) = ("accept".into(), message.into());
        classify(&Case { deed, name, role: "confirm".into(), ..Case::default() }, &words).class
    };
    for message in
        ["Delete 3 files?", "정말 삭제하시겠습니까?", "Wirklich löschen?", "Удалить письмо?"]
    {
        assert_eq!(asks(message), Class::Irreversible, "{message}");
    }
    for message in ["Show the pictures?", "Leave this page?", ""] {
        assert_eq!(asks(message), Class::SoftWrite, "{message}");
    }
}
