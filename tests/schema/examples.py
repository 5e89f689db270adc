"""The schemas of the papers: 000 section 2, 001 chapter 3 and appendix A."""

import boolfilter as bf
from boolfilter.schema import enumerated, hierarchical, numeric, string

FURNITURE = {
    "bedroom": None,
    "dining room": None,
    "outdoor": None,
    "bed": "bedroom",
    "table": ["dining room", "outdoor"],
    "dining table": "table",
    "extending table": "dining table",
    "chair": "dining room",
    "stool": "chair",
}

# 000, section 2.1: antiques and furniture.
LE_SUBSCRIBE = bf.Schema(
    domains={"amount": numeric(), "text": string(), "furniture": hierarchical(FURNITURE)},
    attributes={
        "price": "amount",
        "period": "text",
        "quantity": "amount",
        "furniture_category": "furniture",
        "material": "text",
    },
    event_types={
        "antiques": {"price": "mandatory", "period": "mandatory", "quantity": "mandatory"},
        "furniture": {
            "price": "mandatory",
            "quantity": "mandatory",
            "furniture_category": "mandatory",
            "material": "optional",
        },
    },
)

# 001, section 3.1: antiques and cars.
CARS = bf.Schema(
    domains={"amount": numeric(), "text": string()},
    attributes={
        "price": "amount",
        "period": "amount",
        "quantity": "amount",
        "brand": "text",
        "cc": "amount",
        "color": "text",
    },
    event_types={
        "antique": {"price": "mandatory", "period": "mandatory", "quantity": "mandatory"},
        "car": {
            "price": "mandatory",
            "brand": "mandatory",
            "cc": "mandatory",
            "color": "optional",
        },
    },
)

# 001, appendix A.
THESIS = bf.Schema(
    domains={
        "1": numeric(["=", "<>", "<", "<=", ">", ">="]),
        "2": string(["CONTAINS"]),
        "3": enumerated(["bed-room", "living-room", "dining-room"], ["=", "<>"]),
        "5": enumerated(["wood", "carbon", "epox", "polyester", "paper", "glass"], ["=", "<>"]),
        "6": enumerated(["opel", "volvo", "bmw", "seat", "renault", "mazda", "mini"], ["=", "<>"]),
    },
    attributes={
        "price": "1",
        "period": "2",
        "quantity": "1",
        "furniture_category": "3",
        "material": "5",
        "year": "1",
        "volume": "1",
        "brand": "6",
        "cc": "1",
        "artist": "2",
        "size": "1",
    },
    event_types={
        "antique": {
            "price": "mandatory",
            "period": "mandatory",
            "quantity": "mandatory",
            "material": "optional",
            "size": "mandatory",
        },
        "furniture": {
            "price": "mandatory",
            "quantity": "mandatory",
            "furniture_category": "optional",
            "material": "mandatory",
            "size": "mandatory",
        },
        "surf-board": {
            "price": "mandatory",
            "quantity": "mandatory",
            "year": "mandatory",
            "material": "optional",
            "volume": "mandatory",
        },
        "car": {
            "price": "mandatory",
            "quantity": "mandatory",
            "year": "mandatory",
            "brand": "optional",
            "cc": "mandatory",
        },
        "painting": {
            "price": "mandatory",
            "quantity": "mandatory",
            "period": "optional",
            "material": "mandatory",
            "size": "mandatory",
        },
    },
)
