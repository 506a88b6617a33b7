/*
 * model.h
 *	  Parameters of a model, shared by all functions that take them.
 */
#ifndef WML_MODEL_H
#define WML_MODEL_H

#include "postgres.h"

#include "core/model/objective.h"

extern WmlcScale wml_scale_from_text(text *name);
extern WmlcObjectiveKind wml_model_from_text(text *name);

#endif							/* WML_MODEL_H */
